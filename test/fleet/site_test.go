package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/internal/lab"
	"soku/internal/web"
	"soku/test/built"
	"soku/test/freeport"
	"soku/test/postgresql"
)

func TestMain(m *testing.M) {
	postgresql.With(func() int { return built.Run(m) })
}

// site is a hub and its agents, all of them processes.
type site struct {
	t                *testing.T
	folder           string
	listen, nats     string
	hub              *process
	agents           map[string]*process
	programs, hubExe string
	lab              *lab.Lab // whose hosts the hub and the agents are on, or nil
}

// address is where agents reach the hub: the host hub of the lab, or this machine.
func (s *site) address() string {
	if s.lab == nil {
		return "127.0.0.1"
	}
	a, err := s.lab.Topology.Address("hub", "")
	if err != nil {
		s.t.Fatal(err)
	}
	return a.String()
}

// command makes a process on a host of the lab, if there is one. It ends with ctx.
func (s *site) command(ctx context.Context, host, program string, args ...string) *exec.Cmd {
	if s.lab == nil {
		return exec.CommandContext(ctx, program, args...)
	}
	return s.lab.Command(ctx, host, append([]string{program}, args...)...)
}

// labOf builds an emulated network until the test ends.
func labOf(t *testing.T, file, topology string) *lab.Lab {
	t.Helper()
	in, err := lab.Parse(file, []byte(topology))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), in, lab.Options{Executable: built.Program(t), RunDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return l
}

// newSite starts a hub in a folder of its own. more are flags of serve.
func newSite(t *testing.T, more ...string) *site {
	t.Helper()
	return newSiteIn(t, nil, more...)
}

// newSiteIn is [newSite] on the host hub of a lab; nil is this machine.
func newSiteIn(t *testing.T, l *lab.Lab, more ...string) *site {
	t.Helper()
	port := freeport.Row(t, 2)
	s := &site{t: t, folder: t.TempDir(), agents: map[string]*process{}, programs: built.Program(t), hubExe: built.Hub(t), lab: l}
	s.listen, s.nats = net.JoinHostPort(s.address(), fmt.Sprint(port)), net.JoinHostPort(s.address(), fmt.Sprint(port+1))
	s.startHub(more...)
	return s
}

func (s *site) startHub(more ...string) {
	s.t.Helper()
	args := append([]string{"serve", "--listen", s.listen, "--listen-nats", s.nats, "--name", s.address()}, more...)
	s.hub = startCommand(s.t, s.environment(), s.command(context.WithoutCancel(s.t.Context()), "hub", s.hubExe, args...))
	s.hub.await("agents join by")
}

func (s *site) environment() []string { return []string{"SOKU_DATA=" + filepath.Join(s.folder, "hub")} }

// ask runs a command of the hub and returns its standard output.
func (s *site) ask(args ...string) (string, error) {
	c := s.command(s.t.Context(), "hub", s.hubExe, args...)
	c.Env = append(os.Environ(), s.environment()...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), err
}

// must is [site.ask] of a command that works, and reads its JSON.
func (s *site) must(v any, args ...string) {
	s.t.Helper()
	out, err := s.ask(args...)
	if err == nil && v != nil {
		err = json.Unmarshal([]byte(out), v)
	}
	if err != nil {
		s.t.Fatalf("soku-hub %s: %v\n%s\nhub: %s", strings.Join(args, " "), err, out, s.hub.text())
	}
}

// join starts agents that join by one token.
func (s *site) join(names ...string) {
	s.t.Helper()
	var token web.Token
	s.must(&token, "join", "--uses", fmt.Sprint(len(names)), "--label", "zone=west", "--json")
	words := strings.Fields(token.Command)
	for _, n := range names {
		s.startAgent(n, words[2:]...)
	}
	for _, n := range names {
		s.agents[n].await("connected to")
	}
}

// startAgent starts an agent, which remembers its hub where no more flags say it.
func (s *site) startAgent(name string, more ...string) {
	args := []string{"agent", "--name", name, "--state", filepath.Join(s.folder, name)}
	if s.lab == nil {
		args = append(args, "--address", "lo=127.0.0.1")
	}
	s.agents[name] = startCommand(s.t, nil, s.command(context.WithoutCancel(s.t.Context()), name, s.programs, append(args, more...)...))
}

// state waits until a campaign is as is wants it. A hub that does not answer is asked again.
func (s *site) state(campaign string, is func(campaigns.State) bool) campaigns.State {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		var all []campaigns.State
		out, err := s.ask("campaigns", "--json")
		if err == nil && json.Unmarshal([]byte(out), &all) == nil {
			for _, c := range all {
				if c.Campaign == campaign && is(c) {
					return c
				}
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("campaign %s is not as expected: %+v, %v\nhub: %s", campaign, all, err, s.hub.text())
		}
		time.Sleep(50 * time.Millisecond) // the programs are asked, and there is no event between processes
	}
}

// spooled is how many results wait in the spools of all agents.
func (s *site) spooled() int {
	n := 0
	for name := range s.agents {
		files, _ := filepath.Glob(filepath.Join(s.folder, name, "spool", "*.zst"))
		n += len(files)
	}
	return n
}

// process is a program that runs, with what it has written.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{} // has an element after a write
	done chan struct{} // closed when it has ended
	err  error
}

// Write keeps what the program writes.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
	return p.out.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// start starts a program that ends with the test.
func start(t *testing.T, environment []string, program string, args ...string) *process {
	t.Helper()
	return startCommand(t, environment, exec.CommandContext(context.WithoutCancel(t.Context()), program, args...))
}

// startCommand is [start] of a command.
func startCommand(t *testing.T, environment []string, c *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: c, more: make(chan struct{}, 1), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); p.err = p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(20 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.done
			t.Errorf("%s did not end in time: %s", p.cmd, p.text())
		}
	})
	return p
}

// await waits until the program has written a text.
func (p *process) await(text string) {
	p.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for !strings.Contains(p.text(), text) {
		select {
		case <-p.more:
		case <-p.done:
			if !strings.Contains(p.text(), text) {
				p.t.Fatalf("it ended (%v) and has not written %q: %s", p.err, text, p.text())
			}
		case <-limit.C:
			p.t.Fatalf("it has not written %q: %s", text, p.text())
		}
	}
}

// kill ends the program as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// status is the exit status, once the program has ended by itself.
func (p *process) status() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		p.t.Fatalf("it goes on: %s", p.text())
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
