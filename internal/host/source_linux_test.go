package host

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeProc is a folder like /proc of a process 12 that reads it from its thread 34.
func fakeProc(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"net", "12/net", "12/ns", "12/task/34/net", "12/task/34/ns"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"thread-self": "12/task/34", "12/ns/net": "net:[1]", "12/task/34/ns/net": "net:[1]"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, files)
	return root
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const netDevHead = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
`

func TestEveryCounterIsReadFromItsFile(t *testing.T) {
	root := fakeProc(t, map[string]string{
		"stat": "cpu  110 10 50 9000 70 3 7 20 5 1\ncpu0 60 5 25 4500 35 1 3 10 5 1\ncpu2 50 5 25 4500 35 2 4 10 0 0\n" +
			"intr 12345 1 2 3\nctxt 9\nbtime 1\n",
		"12/net/dev": netDevHead + "  eth0: 341619047   19533    1    2    3     4          5         6  1734821   16297    7    8    9     0       0          0\n" +
			"eth0:1:5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n",
		"12/net/snmp": "Tcp: RtoAlgorithm RtoMin RetransSegs InErrs\nTcp: 1 200 42 -1\n" +
			"Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 47 0 0 48 9\nUdpLite: InDatagrams RcvbufErrors\nUdpLite: 1 5\n",
		"12/net/snmp6":   "Udp6InErrors   \t3\nUdp6RcvbufErrors                \t12\n",
		"12/net/netstat": "TcpExt: TCPLostRetransmit TCPFastRetrans TCPSlowStartRetrans TCPRetransFail TCPSynRetrans\nTcpExt: 1 2 3 4 5\n",
	})
	got := newSource(root).read("eth0")
	all := CPUTimes{CPU: -1, UserNs: 1.1e9, NiceNs: 1e8, SystemNs: 5e8, IdleNs: 9e10, IOWaitNs: 7e8, IRQNs: 3e7, SoftirqNs: 7e7, StealNs: 2e8}
	if got.Total != all || all.BusyNs() != 1.8e9 || all.AllNs() != 92.7e9 {
		t.Errorf("all processors: %+v", got.Total)
	}
	if want := (Traffic{ReceivedBytes: 341619047, ReceivedPackets: 19533, ReceivedDropped: 2, SentBytes: 1734821, SentPackets: 16297, SentDropped: 8}); got.Traffic != want {
		t.Errorf("interface: %+v", got.Traffic)
	}
	if got.TCPRetransSegs != 42 || got.UDPRcvbufErrors != 9+12 {
		t.Errorf("protocols: %+v", got)
	}
	if alias := newSource(root).read("eth0:1"); alias.Traffic.SentPackets != 14 {
		t.Errorf("an alias: %+v", alias)
	}
	if none := newSource(root).read("th0"); none.Traffic != (Traffic{}) {
		t.Errorf("an interface that is not there: %+v", none.Traffic)
	}
	if r, ok := newSource(root).retransmits(); !ok || r != (Retransmits{Segments: 42, Lost: 1, Fast: 2, SlowStart: 3, Failed: 4, SYN: 5}) {
		t.Errorf("sent again: %+v, %v", r, ok)
	}
}

func TestCountersThatAreNotThereAreZero(t *testing.T) {
	for _, root := range []string{fakeProc(t, nil), t.TempDir(), "/no/such/folder"} {
		r := newSource(root).read("lo")
		if r.Total.AllNs() != 0 || r.Traffic != (Traffic{}) || r.TCPRetransSegs != 0 || r.At.IsZero() {
			t.Errorf("%s: %+v", root, r)
		}
		if _, ok := newSource(root).retransmits(); ok {
			t.Errorf("%s has counters of TCP", root)
		}
	}
}

func TestTextThatIsNoCounterIsNone(t *testing.T) {
	root := fakeProc(t, map[string]string{
		"stat": "cpu a b c d e f g h\ncpu0 1 2\n", "12/net/dev": netDevHead + "short: 1 2 3\nno colon\n", "12/net/snmp": "Tcp: RetransSegs\nTcp: x\n",
		"12/net/snmp6": "Udp6RcvbufErrors x\nbroken\n",
	})
	r := newSource(root).read("short")
	if r.Total.AllNs() != 0 || r.Traffic != (Traffic{}) || r.TCPRetransSegs != 0 || r.UDPRcvbufErrors != 0 {
		t.Errorf("read %+v", r)
	}
}

func TestAThreadInItsOwnNamespaceIsReadThere(t *testing.T) {
	const head = "Tcp: RetransSegs\nTcp: "
	root := fakeProc(t, map[string]string{"12/net/snmp": head + "1\n", "12/task/34/net/snmp": head + "2\n"})
	if r := newSource(root).read(""); r.TCPRetransSegs != 1 {
		t.Errorf("in the process's namespace: %d", r.TCPRetransSegs)
	}
	own := filepath.Join(root, "12/task/34/ns/net")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("net:[2]", own); err != nil {
		t.Fatal(err)
	}
	if r := newSource(root).read(""); r.TCPRetransSegs != 2 {
		t.Errorf("in its own namespace: %d", r.TCPRetransSegs)
	}
}
