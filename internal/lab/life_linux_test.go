package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/congestion"
)

const pair = `
hosts:
  a:
  b: {server: true, disk: }
routers: {r: }
links:
  - {from: a, to: r, delay: 1ms}
  - {from: r, to: b}
`

func TestALabCarriesConnectionsToItsServer(t *testing.T) {
	l := up(t, pair)
	cmd := l.Command(t.Context(), "a", "cat", "/proc/sys/net/ipv4/fib_multipath_hash_policy")
	if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Errorf("policy %q, %v", out, err)
	}
	target := net.JoinHostPort(address(t, l, "b", ""), "7658")
	c := on(t, l, "a", func() (net.Conn, error) { return net.Dial("tcp", target) })
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	on(t, l, "a", func() (any, error) {
		devices, err := net.Interfaces()
		if err == nil && len(devices) != 2 {
			err = fmt.Errorf("a has devices %v; want lo and its link", devices)
		}
		return nil, err
	})
}

func TestStatusReportsTheTruthAndTheActualDelay(t *testing.T) {
	l := up(t, pair)
	again, err := Open(l.Topology.Name, l.options)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := again.Command(t.Context(), "a", "ping", "-c", "3", "-i", "0.01", "-q", address(t, l, "b", "")).CombinedOutput(); err != nil {
		t.Skipf("no ping here: %v: %s", err, out)
	}
	s, err := again.Status()
	if err != nil || !s.Complete || len(s.Nodes) != 3 || len(s.Links) != 4 || len(s.Problems) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.Nodes[1].Server != "running" || s.Nodes[2].Kind != "router" || s.Nodes[0].Addresses[0].Label != "r" {
		t.Errorf("nodes %+v", s.Nodes)
	}
	there := s.Links[0]
	if there.DelayNs != 1e6 || there.Given == nil || there.Given.Packets < 3 || there.Given.P50Ns < 1e6 {
		t.Errorf("a to r: %+v, given %+v", there, there.Given)
	}
	if s.Links[2].Given != nil {
		t.Errorf("r to b has no delay line, but %+v", s.Links[2].Given)
	}
	if names, err := List(l.options); err != nil || len(names) != 1 || names[0] != l.Topology.Name {
		t.Errorf("labs %v, %v", names, err)
	}
}

func TestTheSameLabTwiceIsRefused(t *testing.T) {
	l := up(t, pair)
	elsewhere := testOptions(t)
	for _, o := range []Options{l.options, elsewhere} {
		_, err := Up(t.Context(), l.Topology, o)
		if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "soku lab down "+l.Topology.Name) {
			t.Errorf("got %v", err)
		}
	}
	if names, err := namespacesOf(l.Topology.Name); err != nil || len(names) != 3 {
		t.Errorf("the first lab lost nodes: %v, %v", names, err)
	}
}

func TestTwoLabsAreSeparate(t *testing.T) {
	needRoot(t)
	text := "hosts:\n  a:\n  b: {server: true}\nlinks: [{from: a, to: b}]\n"
	var labs []*Lab
	defer func() {
		for _, l := range labs {
			if err := l.Down(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			l, err := Up(t.Context(), topologyOf(t, text), testOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			labs = append(labs, l)
		})
	}
	if len(labs) != 2 {
		t.FailNow()
	}
	target := net.JoinHostPort(address(t, labs[0], "b", ""), "7658")
	if other := address(t, labs[1], "b", "") + ":7658"; other != target {
		t.Fatalf("%s and %s: the labs should use the same addresses", target, other)
	}
	if err := labs[0].Down(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, labs[0])
	on(t, labs[1], "a", func() (any, error) { return nil, dial(target, time.Second) })
	if err := labs[1].Down(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, labs[1])
}

func TestAFailureHalfwayLeavesNothing(t *testing.T) {
	needRoot(t)
	for _, step := range []string{"state", "nodes", "disks", "links", "routes", "rules", "delay line", "servers"} {
		t.Run(step, func(t *testing.T) {
			o := testOptions(t)
			o.before = func(s string) error {
				if s == step {
					return errors.New("injected")
				}
				return nil
			}
			top := topologyOf(t, pair)
			_, err := Up(t.Context(), top, o)
			if err == nil || !strings.Contains(err.Error(), "injected") {
				t.Fatalf("got %v", err)
			}
			nothingLeft(t, &Lab{Topology: top, Dir: o.dir(top.Name), options: o})
		})
	}
}

func TestAFailureThatLeavesSomethingTellsHowToRemoveIt(t *testing.T) {
	needRoot(t)
	o := testOptions(t)
	top := topologyOf(t, "hosts: {a: }")
	dir := o.dir(top.Name)
	o.before = func(step string) error {
		if step != "state" {
			return nil
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil { // cannot be removed
			return err
		}
		return errors.New("injected")
	}
	_, err := Up(t.Context(), top, o)
	if e := unix.Unmount(dir, 0); e != nil {
		t.Fatal(e)
	}
	if err == nil || !strings.Contains(err.Error(), "injected\nremoving what was built failed, too: ") ||
		!strings.HasSuffix(err.Error(), "; remove the rest: soku lab down "+top.Name) {
		t.Errorf("got %v", err)
	}
	if err := Down(t.Context(), top.Name, o); err != nil {
		t.Error(err)
	}
	nothingLeft(t, &Lab{Topology: top, Dir: dir, options: o})
}

func TestCancellingLeavesNothing(t *testing.T) {
	needRoot(t)
	for _, step := range []string{"nodes", "links", "delay line", "servers"} {
		t.Run(step, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			o := testOptions(t)
			o.before = func(s string) error {
				if s == step {
					cancel(measure.TextError(measure.KindInterrupted, "interrupted", ""))
				}
				return nil
			}
			top := topologyOf(t, pair)
			_, err := Up(ctx, top, o)
			if measure.KindOf(err) != measure.KindInterrupted {
				t.Errorf("got %v", err)
			}
			nothingLeft(t, &Lab{Topology: top, Dir: o.dir(top.Name), options: o})
		})
	}
}

func TestAServerThatDoesNotStartIsQuoted(t *testing.T) {
	needRoot(t)
	t.Setenv("LAB_TEST_SERVER_FAILS", "no coffee")
	o := testOptions(t)
	top := topologyOf(t, pair)
	_, err := Up(t.Context(), top, o)
	if err == nil || !strings.Contains(err.Error(), "soku server on b ended: no coffee") {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, &Lab{Topology: top, Dir: o.dir(top.Name), options: o})
}

func TestAWrongSysctlIsNamed(t *testing.T) {
	needRoot(t)
	top := topologyOf(t, "hosts: {a: {sysctl: {net.ipv4.tcp_congestion_control: nonesuch}}}")
	_, err := Up(t.Context(), top, testOptions(t))
	if err == nil || !strings.Contains(err.Error(), `node a: set net.ipv4.tcp_congestion_control to "nonesuch"`) || !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v", err)
	}
	var e *measure.Error
	if !errors.As(err, &e) || e.Cause == nil || e.Cause.Cause == nil || e.Cause.Cause.Code != "lab.node.sysctl" ||
		e.Kind != measure.KindInternal || e.Hint != "" { // what does not exist is not the lab
		t.Errorf("the setting is not data: %+v", e)
	}
}

func TestACongestionControlNotAllowedToUsersIsReported(t *testing.T) {
	needRoot(t)
	const kept = "cubic"
	congestion.Forbid(t, kept)
	top := topologyOf(t, fmt.Sprintf("hosts: {a: {sysctl: {net.ipv4.tcp_congestion_control: %s}}}", kept))
	_, err := Up(t.Context(), top, testOptions(t))
	if measure.KindOf(err) != measure.KindPermission {
		t.Errorf("got %v", err)
	}
	for _, say := range []string{"node a:", "lists (" + strings.Join(congestion.Allowed(t), " ") + ")", "--congestion " + kept, "congestion: " + kept + " in the plan"} {
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("it does not say %q: %v", say, err)
		}
	}
}

func TestStatusNamesTheProcessesThatHaveEnded(t *testing.T) {
	l := up(t, pair)
	for _, p := range l.state.Processes {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(fd) }()
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
			t.Fatal(err)
		}
		if !waitPidfd(t.Context(), fd, 5*time.Second) {
			t.Fatalf("%s is still running", p.Role)
		}
	}
	s, err := l.Status()
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, p := range s.Problems {
		codes = append(codes, p.Code)
	}
	if want := []string{"lab.status.delay_line_ended", "lab.status.server_ended"}; !slices.Equal(codes, want) {
		t.Errorf("%q, want %q", codes, want)
	}
	b, err := json.Marshal(s)
	if want := fmt.Sprintf(`"problems":["the delay line has ended; see %[1]s","soku server on b has ended; see %[1]s"]`, l.Dir); err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

func TestStateIsReadableJSON(t *testing.T) {
	l := up(t, pair)
	data, err := os.ReadFile(filepath.Join(l.Dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Namespaces []string
		Processes  []struct{ PID int }
		Complete   bool
	}
	if err := json.Unmarshal(data, &s); err != nil || len(s.Namespaces) != 3 || len(s.Processes) != 2 || !s.Complete {
		t.Errorf("%+v, %v", s, err)
	}
}
