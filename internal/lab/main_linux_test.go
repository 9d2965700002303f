package lab

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"go.uber.org/goleak"

	"soku/test/tier"
)

// The test program is also the program the lab starts again: it enters
// namespaces, is the delay line, and stands in for "soku server".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "lab" || len(os.Args) > 1 && os.Args[1] == "server" {
		if err := child(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	switch {
	case args[0] == "server":
		return standIn(ctx)
	case args[1] == "enter":
		return Enter(args[2], args[4:])
	case args[1] == "delay-line":
		return DelayLine(ctx, args[2], func() { fmt.Println("ready") })
	}
	return errors.New("unknown arguments")
}

// standIn answers on the server's port with an echo, TCP only.
func standIn(ctx context.Context) error {
	if reason := os.Getenv("LAB_TEST_SERVER_FAILS"); reason != "" {
		return errors.New(reason)
	}
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", ServerPort))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	for {
		c, err := l.Accept()
		if err != nil {
			return nil //nolint:nilerr // the listener was closed: the test is over
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	tier.NeedsRoot(t, "emulated networks")
	if err := inThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) }); err != nil {
		t.Skipf("this machine makes no network namespaces: %v", err)
	}
}

// testOptions keep the state of a test's labs apart from those of the machine.
func testOptions(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{RunDir: t.TempDir(), Executable: self}
}

// thisRun distinguishes the labs of one run of the tests from those of another, which may
// have been killed and left its namespaces.
var thisRun = rand.Uint32()

// topologyOf reads text and gives the lab a name that no other test has.
func topologyOf(t *testing.T, text string) *Topology {
	t.Helper()
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	return parse(t, fmt.Sprintf("lab: t%08x-%08x\n%s", thisRun, h.Sum32(), text))
}

// up builds the lab for the time of the test, and holds that nothing of it is left.
func up(t *testing.T, text string) *Lab {
	t.Helper()
	needRoot(t)
	o := testOptions(t)
	l, err := Up(t.Context(), topologyOf(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.Background()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, l)
	})
	return l
}

// nothingLeft holds that no namespace, process, device or file of the lab is there.
func nothingLeft(t *testing.T, l *Lab) {
	t.Helper()
	if names, err := namespacesOf(l.Topology.Name); err != nil || len(names) > 0 {
		t.Errorf("namespaces left: %v, %v", names, err)
	}
	for _, p := range l.state.Processes {
		if p.alive() {
			t.Errorf("%s %s is still running", p.Role, p.Node)
		}
	}
	if _, err := os.Stat(l.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", l.Dir, err)
	}
	if _, err := os.Stat(l.options.disks(l.Topology.Name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", l.options.disks(l.Topology.Name), err)
	}
	if c, ok := findController(); ok {
		if groups := c.groupsOf(l.Topology.Name); len(groups) > 0 {
			t.Errorf("control groups left in %s: %v", c.root, groups)
		}
	}
	for _, link := range l.Topology.Links {
		for i := range link.Ends {
			if _, err := net.InterfaceByName(link.Ends[i].Iface); err == nil {
				t.Errorf("device %s is left in the machine's own namespace", link.Ends[i].Iface)
			}
		}
	}
	if opened, _ := filepath.Glob("/proc/self/fd/*"); len(opened) > 200 {
		t.Errorf("%d open files", len(opened))
	}
}

// on runs f in the namespace of a node and returns what it made, such as a socket.
func on[T any](t *testing.T, l *Lab, node string, f func() (T, error)) T {
	t.Helper()
	var out T
	err := inside(NamespaceName(l.Topology.Name, node), func() (err error) {
		out, err = f()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func address(t *testing.T, l *Lab, host, label string) string {
	t.Helper()
	a, err := l.Topology.Address(host, label)
	if err != nil {
		t.Fatal(err)
	}
	return a.String()
}

func dial(addr string, timeout time.Duration) error {
	c, err := net.DialTimeout("tcp", addr, timeout)
	if err == nil {
		c.Close()
	}
	return err
}
