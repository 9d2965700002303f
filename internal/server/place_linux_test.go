package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/tier"
)

func TestAServerOfOneInterfaceIsFoundThroughThatOnly(t *testing.T) {
	s, err := newServer(Config{Listen: "127.0.0.1:0", Device: "no such"}, realEngines(), demuxInKernel)
	if err == nil {
		s.closePorts()
	}
	if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), `device "no such"`) {
		t.Errorf("%v", err)
	}
	lo := serveWith(t, Config{Listen: "127.0.0.1:0", Device: "lo"}, realEngines())
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
		o := options(test, func(o *measure.Options) { o.Bytes, o.Direction = 20_000, measure.Bidirectional })
		if _, _, err := lo.run(t.Context(), test, o); err != nil {
			t.Errorf("%s: %v", test, err)
		}
	}
	o := options(measure.TestUDP, func(o *measure.Options) { o.Bytes = 20_000 })
	client := lo.open(measure.TestUDP, o)
	client.udp()
	var peer net.Conn
	lo.sessions.mu.Lock()
	for _, ss := range lo.sessions.byID { // there is one, for the others have ended
		ss.mu.Lock()
		peer = ss.udp[0].conn
		ss.mu.Unlock()
	}
	lo.sessions.mu.Unlock()
	for name, c := range map[string]syscall.Conn{"TCP": lo.tcp, "UDP": lo.udp, "a peer of UDP": peer.(*net.UDPConn)} {
		raw, err := c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var device string
		if err := raw.Control(func(fd uintptr) { device, _ = unix.GetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE) }); err != nil {
			t.Fatal(err)
		}
		if device != "lo" {
			t.Errorf("%s listens on %q", name, device)
		}
	}
}

func TestAServerOfIperf3CutsNoDatagramWhereItsClientSaysSo(t *testing.T) {
	realIperf3(t)
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	for _, forbidden := range []bool{false, true} {
		args := []string{"-u", "-R", "-n", "300K", "-b", "100M", "-l", "65500"} // more than loopback's MTU of 65536 carries over IPv6
		if forbidden {
			args = append(args, "--dont-fragment")
		}
		doc := runIperf3(t, "::1", s.port(), args...)
		if (doc.Error != "") != forbidden {
			t.Errorf("fragments forbidden: %v, error %q", forbidden, doc.Error)
		}
	}
	eventually(t, 10*time.Second, "the log to say why", func() bool {
		return strings.Contains(s.logs.String(), "without fragments: the path carries packets of")
	})
}

// watching tells on which processors threads of this process are kept while a test runs.
type watching struct {
	unshown
	mu   sync.Mutex
	kept map[string]bool
}

func (w *watching) Options(o measure.Options) measure.Options {
	o.Interval = measure.Duration(100 * time.Millisecond)
	return o
}

func (w *watching) Observe(measure.Progress) {
	files, _ := filepath.Glob("/proc/self/task/*/status")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if _, after, ok := strings.Cut(string(b), "Cpus_allowed_list:\t"); ok {
			list, _, _ := strings.Cut(after, "\n")
			w.kept[list] = true
		}
	}
}

func TestTestsOfIperf3sClientsAreKeptOnTheServersProcessor(t *testing.T) {
	tier.SpendsSeconds(t)
	realIperf3(t)
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil || allowed.Count() < 2 || !allowed.IsSet(0) || !allowed.IsSet(1) {
		t.Skip("it needs processors 0 and 1")
	}
	w := &watching{kept: map[string]bool{}}
	s := serveWith(t, Config{Only: measure.ViaIperf3, Pin: measure.Pinning{On: true, CPUs: []int{1}}, IPerf3: func() IPerf3Observer { return w }}, realEngines())
	for _, c := range []struct{ asked, want, not string }{{"", "1", "0"}, {"-A 0,0", "0", "1"}} {
		w.mu.Lock()
		clear(w.kept)
		w.mu.Unlock()
		doc := runIperf3(t, "127.0.0.1", s.port(), append([]string{"-R", "-t", "1", "-b", "50M"}, strings.Fields(c.asked)...)...)
		w.mu.Lock()
		if doc.Error != "" || !w.kept[c.want] || w.kept[c.not] {
			t.Errorf("asked %q: %s, threads are kept on %v", c.asked, doc.Error, w.kept)
		}
		w.mu.Unlock()
	}
}
