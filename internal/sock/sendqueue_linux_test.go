package sock

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
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
		o, err := OpenOutlet([]*net.TCPConn{c}, "splice", nil)
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
