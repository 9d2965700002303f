package sock

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/tier"
)

func TestLongQueuesLieBetweenTheKernelsOwnAndTheMemoryOfTCP(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_wmem")
	if err != nil {
		t.Fatal(err)
	}
	growth, err := strconv.ParseInt(strings.Fields(string(text))[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	least, one := LongQueues(1)
	if least != growth || one <= 0 || one > longestQueue {
		t.Errorf("for one connection %d to %d, want from %d to %d at most", least, one, growth, longestQueue)
	}
	const many = 10_000
	if _, each := LongQueues(many); each <= 0 || each >= one {
		t.Errorf("for %d connections up to %d each, and for one %d", many, each, one)
	}
	if least, most := LongQueues(0); least != 0 || most != 0 {
		t.Errorf("for no connections %d to %d", least, most)
	}
}

func TestTheMemoryOfTCPIsKnownWhereTheNamespaceHidesIt(t *testing.T) {
	shown := unwatchedTCP()
	if shown <= 0 {
		t.Fatalf("this host lets TCP have %d bytes", shown)
	}
	tier.NeedsRoot(t, "network namespaces")
	var hidden int64
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		hidden = unwatchedTCP()
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if d := float64(hidden) / float64(shown); d < 0.8 || d > 1.25 {
		t.Errorf("in a network namespace TCP may have %d bytes, outside %d", hidden, shown)
	}
}

func TestQueuesStayWithinTheMemoryOfTheControlGroup(t *testing.T) {
	const unbounded = math.MaxInt64
	root := t.TempDir()
	for group, limit := range map[string]string{"": "", "a": "max\n", "a/b": "268435456\n", "a/b/c": "1073741824\n", "odd": "-\n"} {
		dir := filepath.Join(root, group)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if limit == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(limit), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for membership, want := range map[string]int64{
		"0::/\n":                         unbounded,
		"0::/a\n":                        unbounded,
		"0::/a/b\n":                      256 << 20,
		"1:name=systemd:/x\n0::/a/b/c\n": 256 << 20, // the one around it has less
		"0::/odd\n":                      unbounded,
		"0::/gone/away\n":                unbounded,
		"0::/../../a/b\n":                256 << 20, // outside of the namespace of control groups
		"4:memory:/a/b\n":                unbounded,
		"":                               unbounded,
	} {
		file := filepath.Join(root, "membership")
		if err := os.WriteFile(file, []byte(membership), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := controlGroupMemory(file, root); got != want {
			t.Errorf("a process of %q may have %d bytes, want %d", membership, got, want)
		}
	}
}

func TestAQueueIsLengthenedAsAskedOrLeftAlone(t *testing.T) {
	allowed, known := kernelSetting("net/core/wmem_max", 0)
	if !known {
		t.Fatal("this host does not say what queues it allows")
	}
	lengthened := func(n int64) (before, after int64) {
		t.Helper()
		c, _, err := dialled(t, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := OpenWriter([]*net.TCPConn{c}, "splice", RandomContent)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		b, _, _ := Buffers(c)
		o.Lengthen(0, n)
		a, _, _ := Buffers(c)
		return int64(b), int64(a)
	}
	within, beyond := 2*allowed, 4*allowed
	unprivileged(t, func() {
		if _, got := lengthened(within); got != within {
			t.Errorf("of %d bytes, which this host allows, there are %d", within, got)
		}
		if before, after := lengthened(beyond); after != before {
			t.Errorf("of %d bytes, which this host does not allow, there are %d; before, %d", beyond, after, before)
		}
	})
	if os.Geteuid() != 0 {
		return
	}
	if _, got := lengthened(beyond); got != beyond {
		t.Errorf("a privileged process asked for %d bytes and has %d", beyond, got)
	}
}
