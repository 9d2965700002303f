package host

import (
	"context"
	"os"
	"path"
	"runtime"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/net"
)

// softirqReported: processor times include soft interrupts separately.
const softirqReported = true

// procRoot is where the kernel's files are, for everything but tests.
const procRoot = "/proc"

// source is where counters are read from: gopsutil reads the processors and the
// interfaces, as on every system, and procfs what only Linux counts. It holds nothing
// open and is safe for concurrent use.
type source struct {
	root string // such as /proc
	// net is the process, or its thread, whose network namespace is read, and netDir its
	// folder of counters. /proc/net would be the namespace of the process's first thread.
	// nil and empty where there are no such files.
	net    *procfs.Proc
	netDir string
}

// newSource reads the network namespace of the calling thread. If that is not the one of
// the process, the thread must live as long as the source is used.
func newSource(root string) *source {
	s := &source{root: root}
	process := path.Dir(NetworkDir(root))
	if process == path.Dir("") {
		return s
	}
	fs, err := procfs.NewFS(path.Dir(process))
	if err != nil {
		return s
	}
	number, _ := strconv.Atoi(path.Base(process))
	if net, err := fs.Proc(number); err == nil {
		s.net, s.netDir = &net, path.Join(process, "net")
	}
	return s
}

// NetworkDir is the folder of counters of the network namespace that the calling thread is in:
// that of the process, or of the thread where it is in another namespace, which then must live
// until the files are open. root is where the kernel's files are, such as /proc. NetworkDir returns
// an empty string if they are not there.
func NetworkDir(root string) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, err := os.Readlink(path.Join(root, "thread-self")) // PID/task/TID
	if err != nil {
		return ""
	}
	process := path.Dir(path.Dir(thread))
	if !sameNamespace(path.Join(root, process), path.Join(root, thread)) {
		process = thread
	}
	return path.Join(root, process, "net")
}

// sameNamespace reports whether two processes or threads, given by their folders, have
// one network namespace.
func sameNamespace(a, b string) bool {
	one, _ := os.Readlink(path.Join(a, "ns/net"))
	other, _ := os.Readlink(path.Join(b, "ns/net"))
	return one == other
}

// context has the root directory for gopsutil.
func (s *source) context() context.Context {
	return context.WithValue(context.Background(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: s.root})
}

func (s *source) interfaces(ctx context.Context) ([]net.IOCountersStat, error) {
	return net.IOCountersByFileWithContext(ctx, true, path.Join(s.netDir, "dev"))
}

func (s *source) readProtocols(r *Reading) {
	if s.net == nil {
		return
	}
	if four, err := s.net.Snmp(); err == nil {
		r.UDPRcvbufErrors += counter(four.Udp.RcvbufErrors)
		r.TCPRetransSegs = counter(four.RetransSegs) // IPv4 and IPv6 together
	}
	if six, err := s.net.Snmp6(); err == nil {
		r.UDPRcvbufErrors += counter(six.Udp6.RcvbufErrors)
	}
}

func (s *source) retransmits() (Retransmits, bool) {
	if s.net == nil {
		return Retransmits{}, false
	}
	snmp, err := s.net.Snmp()
	if err != nil {
		return Retransmits{}, false
	}
	ext, _ := s.net.Netstat()
	return Retransmits{
		Segments: counter(snmp.RetransSegs), Lost: counter(ext.TCPLostRetransmit),
		SYN: counter(ext.TCPSynRetrans), Fast: counter(ext.TCPFastRetrans), Forward: counter(ext.TCPForwardRetrans),
		SlowStart: counter(ext.TCPSlowStartRetrans), Failed: counter(ext.TCPRetransFail),
	}, true
}

// counter is one of procfs, which has no value where the kernel does not have it.
func counter(v *float64) int64 {
	if v == nil {
		return 0
	}
	return int64(*v)
}
