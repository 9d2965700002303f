//go:build !linux

package sock

import (
	"net"
	"syscall"
	"time"

	"soku/internal/measure"
)

// unsupported returns the error for an option that this system does not support.
func unsupported(option string) error {
	return measure.Fail(measure.KindUsage, "sock.unsupported", measure.Figures{"option": option, "system": system})
}

// LimitUnacknowledged returns an error of kind usage: this system has no
// TCP_USER_TIMEOUT.
func LimitUnacknowledged(*net.TCPConn, time.Duration) error { return unsupported("TCP_USER_TIMEOUT") }

// HasFlowLabels reports whether this system lets a program choose flow labels.
const HasFlowLabels = false

func connectLabelled(uintptr, net.Addr, string, int) error { return unsupported("flow_label") }

// HasMultipath returns an error of kind usage: this system has no Multipath TCP.
func HasMultipath() error {
	return measure.Fail(measure.KindUsage, "sock.multipath.system", measure.Figures{"system": system})
}

func (s Settings) controlMultipath(network, address string, c syscall.RawConn) error {
	return s.Control(network, address, c)
}

// Multipath reports that c does not use Multipath TCP: this system does not have it.
func Multipath(*net.TCPConn) (is, known bool) { return false, true }

// IsMultipath is [Multipath] for an open connection.
func IsMultipath(*net.TCPConn) bool { return false }

func firstThread() bool { return false }

// ownDescriptors does nothing: descriptor tables belong to processes on this system.
func ownDescriptors([]syscall.RawConn) (end func()) { return func() {} }

// PathMTU reports false: the path MTU is not read on this system.
func PathMTU(net.Conn) (bytes int, ok bool) { return 0, false }

// WriterPaths returns the values of the option tx for TCP that this system has in
// addition to the portable write.
func WriterPaths() []string { return nil }

// ReaderPaths returns the values of the option rx for TCP that this system has in
// addition to the portable read.
func ReaderPaths() []string { return nil }

// MultipathPaths returns the default values of the options tx and rx for Multipath TCP.
func MultipathPaths() (tx, rx string) { return "write", "read" }

// PrepareWriters does nothing on this system.
func PrepareWriters(int) {}

func allowedCPUs() ([]int, error) { return nil, unsupported("pin") }

func keepThread(int) (restore func() error, err error) { return nil, unsupported("pin") }

// forceQueue reports false: the system's limit cannot be exceeded.
func forceQueue(net.Conn) bool { return false }

// AcknowledgeAtOnce does nothing on this system.
func AcknowledgeAtOnce(syscall.Conn) {}

// StateReader reads nothing: the state of sockets is not read on this system.
type StateReader struct{}

// NewStateReader returns nil.
func NewStateReader(syscall.Conn) *StateReader { return nil }

// Read reports false.
func (*StateReader) Read(*State) bool { return false }

// TCPInfo reports false: TCP_INFO is not read on this system.
func TCPInfo(*net.TCPConn) (measure.TCPInfo, bool) { return measure.TCPInfo{}, false }

// Received reports false: the state of sockets is not read on this system.
func Received(*net.TCPConn) (int64, bool) { return 0, false }

// Consumed reports false, as Received does.
func Consumed(*net.TCPConn) (int64, bool) { return 0, false }

// Unsent reports false: unacknowledged bytes are not read on this system.
func Unsent(*net.TCPConn) (int64, bool) { return 0, false }

// LimitPacing reports false: on this system only the caller's own schedule paces.
func LimitPacing(syscall.Conn, uint64) (taken bool) { return false }

// Unanswered reports that the system does not tell.
func Unanswered(*net.TCPConn) (waits bool, last time.Duration, ok bool) { return false, 0, false }

// Unpaced does nothing: only Linux paces accepted connections.
func Unpaced(*net.TCPListener) {}

// SystemCongestion does nothing, as [Unpaced].
func SystemCongestion(*net.TCPConn) {}

// Unwatch does nothing: only Linux gains from it.
func Unwatch([]net.Conn) (watch func()) { return func() {} }
