package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// starts is how often a run starts a brief program: a single start may wait milliseconds for a
// processor.
const starts = 9

// copyMost is the longest time in which files are copied.
const copyMost = time.Minute

// perform is one run of a contender: one execution, or of a brief one the medians of several,
// none of which may fail.
func perform(ctx context.Context, p place, s Site, e Contender) (Figures, float64, error) {
	if !e.Brief {
		return execute(ctx, p, s, e)
	}
	all := map[string][]float64{}
	for range starts {
		f, _, err := execute(ctx, p, s, e)
		if err != nil {
			return nil, 0, err
		}
		for name, v := range f {
			all[name] = append(all[name], v)
		}
	}
	f := Figures{}
	for name, v := range all {
		f[name] = median(v)
	}
	return f, 0, nil
}

// execute runs both ends of a contender once in a place, each in a new process, so that
// their CPU time is known. It returns the figures and the CPU seconds of both, zero if
// unknown. It takes at most the site's time and 8 s, and [copyMost] to copy files.
func execute(ctx context.Context, p place, s Site, e Contender) (Figures, float64, error) {
	commands, most := e.Build(s), time.Duration(s.Seconds+8)*time.Second
	if commands.After != nil {
		defer commands.After()
	}
	if commands.Before != nil {
		most = copyMost
		if err := commands.Before(ctx); err != nil {
			return nil, 0, err
		}
	}
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	if len(commands.Server) == 0 {
		return alone(ctx, commands, e)
	}
	var between *relay
	if e.Start {
		var err error
		if between, err = newRelay(ctx, fmt.Sprintf("%s:%d", s.Host, s.Port)); err != nil {
			return nil, 0, err
		}
		defer between.close()
		through := s
		through.Port = between.port()
		commands.Client = e.Build(through).Client
	}
	server, serverOut := start(ctx, append(append([]string{}, p.serverPrefix...), commands.Server...))
	if err := server.Start(); err != nil {
		return nil, 0, err
	}
	gone := make(chan struct{})
	go func() { _ = server.Wait(); close(gone) }()
	ready := waitListening(ctx, server.Process.Pid, s.Port, commands.UDP, gone)
	var begin time.Time
	client, clientOut := start(ctx, append(append([]string{}, p.clientPrefix...), commands.Client...))
	var failed error
	if ready {
		begin = time.Now()
		failed = client.Run()
	}
	took := time.Since(begin)
	endServer(server, gone, ready && failed == nil)
	if !ready {
		return nil, 0, fmt.Errorf("its server does not listen: %s", lastLine(serverOut.String()))
	}
	if failed != nil {
		return nil, 0, refusal(clientOut.String()+clientOut.aside.String(), failed)
	}
	f, err := e.Parse(clientOut.String(), serverOut.String())
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s", err, lastLine(clientOut.String()))
	}
	f[wall.Name] = float64(took.Microseconds()) / 1e3
	if between != nil {
		select {
		case at := <-between.opened:
			f[firstPacket.Name] = float64(at.Sub(begin).Microseconds()) / 1e3
		default:
			return nil, 0, errNoFigure
		}
	}
	if e.NoCPU {
		return f, 0, nil
	}
	cpu := time.Duration(0)
	for _, c := range []*exec.Cmd{server, client} {
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return f, cpu.Seconds(), nil
}

// output keeps a process's output up to a limit: a peer with endless output must not fill the
// memory of the bench.
type output struct {
	bytes.Buffer
	aside bytes.Buffer // standard error, if it is separate
}

func (o *output) Write(p []byte) (int, error) {
	if room := 4<<20 - o.Len(); room > 0 {
		o.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func start(ctx context.Context, words []string) (*exec.Cmd, *output) {
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	o := &output{}
	c.Stdout, c.Stderr = o, o
	if has(words, "--json") || has(words, "-J") { // a warning would make the document invalid
		c.Stderr = &o.aside
	}
	c.WaitDelay = time.Second
	c.Env = append(os.Environ(), "LC_ALL=C")
	return c, o
}

// endServer waits for a server that ends after its client, and interrupts others.
func endServer(c *exec.Cmd, gone <-chan struct{}, served bool) {
	wait := 10 * time.Millisecond
	if served && selfEnding(c.Args) {
		wait = 2 * time.Second
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, os.Kill} {
		select {
		case <-gone:
			return
		case <-time.After(wait):
		}
		_ = c.Process.Signal(sig)
		wait = time.Second
	}
	<-gone
}

// selfEnding reports whether a server serves one client and then prints its figures.
func selfEnding(words []string) bool {
	return has(words, "-1") || has(words, "role=sink") || has(words, "ntttcp") || has(words, "-C")
}

// refusal turns a client's failure into an error, and an unknown flag into errUnsupported.
func refusal(text string, err error) error {
	low := strings.ToLower(text)
	for _, sign := range []string{"unknown flag", "unknown command", "unrecognized option", "invalid option", "unknown shorthand"} {
		if strings.Contains(low, sign) {
			return fmt.Errorf("%w: %s", errUnsupported, lastLine(text))
		}
	}
	return fmt.Errorf("%w: %s", err, lastLine(text))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := lines[len(lines)-1]
	return line[:min(len(line), 160)]
}
