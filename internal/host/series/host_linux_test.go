package series

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/test/namespace"
)

// fakeRoots are folders like those of the kernel, of a process 12 in group /a/b.
func fakeRoots(t *testing.T) roots {
	t.Helper()
	dir := t.TempDir()
	r := roots{filepath.Join(dir, "proc"), filepath.Join(dir, "sys"), filepath.Join(dir, "cgroup")}
	if err := os.MkdirAll(filepath.Join(r.proc, "12/task/12"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"self": "12", "thread-self": "12/task/12"} {
		if err := os.Symlink(to, filepath.Join(r.proc, name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wholeHost has every file.
func wholeHost(t *testing.T) roots {
	r := fakeRoots(t)
	for name, text := range map[string]string{
		"stat": "cpu  1 1 1 1 1 1 1 1\ncpu0 1 0 1 1 1 1 1 1\n", "interrupts": "  CPU0\n 1: 7 x\n", "diskstats": "8 0 sda 1 0 2 0 3 0 4 0 0 5 5\n",
		"12/net/dev": "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 0 0 0 0\n", "12/net/snmp": "Tcp: ActiveOpens RetransSegs\nTcp: 5 6\nUdp: RcvbufErrors\nUdp: 1\n", "12/net/snmp6": "Udp6RcvbufErrors 2\n",
		"12/net/netstat": "TcpExt: ListenDrops\nTcpExt: 3\n", "12/net/softnet_stat": "1 2 3\n", "12/net/stat/nf_conntrack": "entries insert_failed drop\n7 0 a\n", "pressure/cpu": "some total=1\n", "pressure/memory": "some total=2\n", "pressure/io": "some total=3\n",
		"12/cgroup": "4:cpu,cpuacct:/a/b\n0::/\n", "12/task/12/schedstat": "100 200 3\n",
	} {
		put(t, r.proc, name, text)
	}
	put(t, r.cgroup, "cpu/a/cpu.cfs_quota_us", "50000\n")
	put(t, r.cgroup, "cpu/a/cpu.stat", "nr_periods 4\nnr_throttled 2\nthrottled_time 9\n")
	put(t, r.cgroup, "cpu/a/b/cpu.cfs_quota_us", "-1\n")
	put(t, r.cgroup, "cpu/a/b/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n")
	put(t, r.sys, "block/sda/x", "")
	return r
}

// sampled are the values of one reading by key, after a start.
func sampled(t *testing.T, r roots) map[string]int64 {
	t.Helper()
	rd := newReader(r.sources("eth0", func(string) opener { return none }), atNoCost)
	defer rd.close()
	rd.requests <- true
	got := <-rd.results
	out := map[string]int64{}
	for i, c := range got.columns {
		if got.row[i] != Unknown {
			out[c.Key] = got.row[i]
		}
	}
	return out
}

func TestEveryFileOfAHostIsRead(t *testing.T) {
	got := sampled(t, wholeHost(t))
	for key, want := range map[string]int64{
		"cpu0.user_ns": 1e7, "cpu0.steal_ns": 1e7, "cpu0.interrupts": 7, "disk.sda.written_bytes": 2048, "interface.sent_bytes": 9, "tcp.active_opens": 5, "tcp.retransmits": 6,
		"udp.receive_buffer_errors": 3, "tcp.listen_drops": 3, "softnet.squeezed": 3, "conntrack.dropped": 10, "pressure.cpu_ns": 1000, "pressure.io_ns": 3000,
		"cgroup.throttled_periods": 2, "cgroup.throttled_ns": 9, "process.run_ns": 0,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %d (%v), want %d", key, v, ok, want)
		}
	}
	for key := range got {
		if !measure.SeriesKey(key) {
			t.Errorf("%q is no key", key)
		}
	}
}

// Whatever one file is, the others are read.
func TestAFaultInOneFileCostsItsColumns(t *testing.T) {
	whole := sampled(t, wholeHost(t))
	files := map[string]string{
		"stat": "cpu0.", "interrupts": "cpu0.interrupts", "diskstats": "disk.", "12/net/dev": "interface.", "12/net/snmp": "tcp.active_opens", "12/net/netstat": "tcp.listen_drops",
		"12/net/softnet_stat": "softnet.", "12/net/stat/nf_conntrack": "conntrack.", "pressure/cpu": "pressure.cpu", "12/cgroup": "cgroup.", "12/task/12/schedstat": "process.",
	}
	faults := map[string]func(file string) error{
		"gone":      os.Remove,
		"empty":     func(file string) error { return os.Truncate(file, 0) },
		"a folder":  func(file string) error { return replace(file, func() error { return os.Mkdir(file, 0o755) }) },
		"a pipe":    func(file string) error { return replace(file, func() error { return unix.Mkfifo(file, 0o644) }) },
		"nonsense":  func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("\x00\xff9 :", 1000)), 0o644) },
		"very long": func(file string) error { return os.WriteFile(file, make([]byte, longestFile+1), 0o644) },
	}
	for file, lost := range files {
		for fault, inject := range faults {
			r := wholeHost(t)
			if err := inject(filepath.Join(r.proc, file)); err != nil {
				t.Fatal(err)
			}
			got := sampled(t, r)
			for key := range whole {
				_, there := got[key]
				gone := strings.HasPrefix(key, lost) || file == "stat" && strings.HasPrefix(key, "cpu0") || file == "12/net/snmp" && (key == "tcp.retransmits" || strings.HasPrefix(key, "udp.")) ||
					file == "12/task/12/schedstat" && strings.HasPrefix(key, "thread.")
				if there && strings.HasPrefix(key, lost) {
					t.Errorf("%s %s: %s is %d", file, fault, key, got[key])
				}
				if !there && !gone {
					t.Errorf("%s %s: %s is lost", file, fault, key)
				}
			}
		}
	}
}

func replace(file string, with func() error) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	return with()
}

func TestTheQuotaOfAGroupAboveCounts(t *testing.T) {
	r := wholeHost(t)
	put(t, r.proc, "12/cgroup", "0::/pod/program\n")
	put(t, r.cgroup, "pod/cpu.max", "20000 100000\n")
	put(t, r.cgroup, "pod/cpu.stat", "usage_usec 5\nnr_periods 8\nnr_throttled 3\nthrottled_usec 7\n")
	put(t, r.cgroup, "pod/program/cpu.max", "max 100000\n")
	put(t, r.cgroup, "pod/program/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n")
	if got := sampled(t, r); got["cgroup.periods"] != 8 || got["cgroup.throttled_ns"] != 7000 {
		t.Errorf("%v", got)
	}
	put(t, r.proc, "12/cgroup", "0::/not/here\n") // in a container the path is the host's
	put(t, r.cgroup, "cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n")
	if got := sampled(t, r); got["cgroup.throttled_periods"] != 1 {
		t.Errorf("in a container: %v", got)
	}
}

func TestTheQuotaCountsWhereOnlyAProcessAboveSeesIt(t *testing.T) {
	r := fakeRoots(t)
	put(t, r.proc, "12/cgroup", "1:cpu:/a\n0::/\n")
	put(t, r.proc, "12/status", "Name:\tsoku\nPPid:\t7\n")
	put(t, r.proc, "7/root/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n")
	put(t, r.proc, "7/root/sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 8\nnr_throttled 3\nthrottled_time 7\n")
	for _, folder := range []bool{false, true} { // "ip netns exec" leaves an empty one
		if folder {
			if err := os.MkdirAll(r.cgroup, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if got := sampled(t, r); got["cgroup.periods"] != 8 || got["cgroup.throttled_ns"] != 7 {
			t.Errorf("a folder of control groups is there: %v; %v", folder, got)
		}
	}
	put(t, r.cgroup, "memory/tasks", "12\n")
	if n, there := sampled(t, r)["cgroup.periods"]; there {
		t.Errorf("%d periods of a group that the program is not in", n)
	}
}

func TestTheBusiestThreadIsTheOneThatRunsAndWaitsLongest(t *testing.T) {
	r := fakeRoots(t)
	stat := func(tid, text string) { put(t, r.proc, "12/task/"+tid+"/schedstat", text) }
	stat("12", "1000 1000 1\n")
	stat("13", "5000 0 1\n")
	s := r.threads()
	defer s.free()
	row := unknownRow(5)
	check := func(want ...int64) {
		t.Helper()
		if s.Read(row); !equal(row, want) {
			t.Errorf("%v, want %v", row, want)
		}
	}
	check(0, 0, 0, 0, 0)
	stat("12", "1100 1300 1\n")
	stat("13", "5200 100 1\n")
	check(300, 400, 400, 100, 300)
	stat("14", "600 50 1\n") // a new one: all of it was since the last reading
	check(900, 450, 1050, 700, 350)
	if err := os.RemoveAll(filepath.Join(r.proc, "12/task/14")); err != nil {
		t.Fatal(err)
	}
	stat("13", "5300 100 1\n")
	check(1000, 450, 1150, 800, 350)
}

// What threads did before they were listed again is not of this interval.
func TestThreadsThatWereTooManyCountFromTheirNextReading(t *testing.T) {
	r := fakeRoots(t)
	tasks := filepath.Join(r.proc, "12/task")
	stat := func(text string) { put(t, tasks, "12/schedstat", text) }
	stat("1000 10 1\n")
	s := r.threads()
	defer s.free()
	row := unknownRow(5)
	s.Read(row)
	for tid := range mostThreads {
		put(t, tasks, strconv.Itoa(1000+tid)+"/schedstat", "1 1 1\n")
	}
	row = unknownRow(5)
	if s.Read(row); !equal(row, unknownRow(5)) {
		t.Errorf("too many threads: %v", row)
	}
	for tid := range mostThreads {
		if err := os.RemoveAll(filepath.Join(tasks, strconv.Itoa(1000+tid))); err != nil {
			t.Fatal(err)
		}
	}
	stat("9000 90 1\n")
	if s.Read(row); !equal(row, make([]int64, 5)) {
		t.Errorf("few again: %v", row)
	}
	stat("9500 100 1\n")
	if s.Read(row); row[0] != 500 || row[1] != 10 {
		t.Errorf("afterwards: %v", row)
	}
}

func equal(a, b []int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestThisHostIsSampled(t *testing.T) {
	s := Start(Config{Interface: "lo", every: 10 * time.Millisecond})
	conn, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 20 {
		_, _ = conn.Write(make([]byte, 1000)) // there is no listener, so that every second write fails
	}
	spin(60 * time.Millisecond)
	v := values(t, s)
	sum := map[string]int64{}
	for key, column := range v.Columns {
		for _, n := range column {
			sum[key] += max(0, n)
		}
	}
	if sum["interface.sent_bytes"] < 10*1000 || sum["process.run_ns"] == 0 || sum["thread.busiest_run_ns"] > sum["process.run_ns"] {
		t.Errorf("%v", sum)
	}
}

func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// The network is that of the thread that starts the sampler, also after the thread has left.
func TestTheNetworkIsThatOfTheCallersNamespace(t *testing.T) {
	var s *Sampler
	namespace.Do(t, func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(lo); err != nil {
			return err
		}
		s = Start(Config{Interface: "lo", every: time.Millisecond})
		conn, err := net.Dial("udp", "127.0.0.1:9")
		if err != nil {
			return err
		}
		defer conn.Close()
		for range 20 {
			_, _ = conn.Write(make([]byte, 1000))
		}
		return nil
	})
	var sent int64
	for _, n := range values(t, s).Columns["interface.sent_packets"] {
		sent += n
	}
	if sent < 10 || sent > 100 { // including the errors "port unreachable"
		t.Errorf("%d packets in the namespace", sent)
	}
}

// With more queues a driver has more statistics. Older kernels write all of them, newer ones none.
func TestThereIsRoomForStatisticsThatAreAdded(t *testing.T) {
	namespace.Do(t, func() error {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "soku0", NumTxQueues: 4, NumRxQueues: 4}, PeerName: "soku1"}
		if err := netlink.LinkAdd(pair); err != nil {
			return err
		}
		e, err := host.OpenEthtool("soku0")
		if err != nil {
			return err
		}
		queues := func(n uint32) {
			c, err := e.Channels()
			c.Rx, c.Tx = n, n
			if err := errors.Join(err, e.SetChannels(c)); err != nil {
				t.Error(err)
			}
		}
		queues(1)
		d, columns := newDriver(e)
		defer d.Close()
		known := func() bool { return known(Source{Columns: columns, Read: d.read}) }
		if len(columns) == 0 || !known() {
			t.Errorf("columns %v", columns)
		}
		queues(4)
		if known() {
			t.Error("statistics are taken for others")
		}
		n := int(binary.NativeEndian.Uint32(d.buf[4:]))
		if n == len(d.places) || n > host.MostNames {
			t.Errorf("%d statistics after %d", n, len(d.places))
		}
		if need := 8 + 8*max(n, 4*len(d.places)); len(d.buf) < need {
			t.Errorf("room for %d bytes, of %d", len(d.buf), need)
		}
		if queues(1); !known() {
			t.Error("nothing is known when they are as before")
		}
		return nil
	})
}

func TestAReaderLeavesNothingOpen(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	sampled := func(iface string) (most int) {
		r := newReader(hostSources(iface), processorTime)
		defer r.close()
		r.requests <- true
		<-r.results
		return open()
	}
	sampled("lo") // the poller of the runtime, and whatever else stays
	before := open()
	for _, iface := range []string{"", "lo", "no such one"} {
		if most := sampled(iface) - before; most < 1 || most > Descriptors {
			t.Errorf("interface %q: %d files", iface, most)
		}
		if after := open(); after != before {
			t.Errorf("interface %q: %d files, %d before", iface, after, before)
		}
	}
}
