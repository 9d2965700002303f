//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
)

// departures is what a direct socket that splits its round trips knows beside its
// exchanges. What is written beside type direct holds for its methods, too.
type departures struct {
	hardware bool     // the interface can stamp
	passed   []passed // beside done
	step     uint32   // by how much a message moves the kernel's key
	handed   uint32   // the key of the next message
	cameRaw  int64    // as came, of the interface
	heard    sock.Stamps
}

// passed is when a request left, by the wall clock and by the interface's, and when
// the reply came by the latter; 0 is not known.
type passed struct {
	key                    uint32
	left, rawLeft, rawCame int64
}

const (
	// mostStamps bounds the stamps that one exchange reads: its own two, and some that
	// requests without a reply have left.
	mostStamps = 8
	// lateStamps is how many exchanges back a stamp still finds its own: an interface
	// may tell late what it sent.
	lateStamps = 4
)

// arrived takes the stamps of what was just read.
//
//go:nosplit
//go:norace
func (d *direct) arrived(ok bool) {
	d.cameRaw = 0
	if !ok {
		return
	}
	if d.readStamps(); d.heard.Software != 0 {
		d.came = d.heard.Software - d.wall
	}
	d.cameRaw = d.heard.Hardware
}

//go:nosplit
//go:norace
func (d *direct) readStamps() {
	control := (*[unsafe.Sizeof(d.control)]byte)(unsafe.Pointer(&d.control))
	d.heard.Read(control[:min(d.header.controlLen, uintptr(len(control)))])
}

// departed takes from the queue of errors when requests left, with the newest reply
// in: that of its own request is there by now, unless it has none. It waits for nothing.
//
//go:nosplit
//go:norace
func (d *direct) departed() {
	p := &d.passed[d.n]
	p.key, p.left, p.rawLeft, p.rawCame = d.handed-1, 0, 0, d.cameRaw
	for range mostStamps {
		if p.left != 0 && (p.rawLeft != 0 || !d.hardware) {
			return
		}
		d.vector.len, d.header.controlLen = 0, unsafe.Sizeof(d.control)
		if _, _, e := syscall.RawSyscall(syscall.SYS_RECVMSG, d.fd, uintptr(unsafe.Pointer(&d.header)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); e != 0 {
			return
		}
		d.readStamps()
		s := &d.heard
		if !s.Left {
			continue
		}
		if int32(s.Key-p.key) > 0 {
			// No request is newer: the kernel has counted what this end has not.
			p.key, d.handed = s.Key, s.Key+1
		}
		d.file(s)
	}
}

// file gives a stamp to the exchange that it is of. Only the first of each kind
// counts: what is sent again has left before. What left before the request was sent
// is of something else with its key.
//
//go:nosplit
//go:norace
func (d *direct) file(s *sock.Stamps) {
	for i := d.n; i >= 0 && i > d.n-lateStamps; i-- {
		p := &d.passed[i]
		if p.key != s.Key {
			continue
		}
		if s.Software-d.wall >= d.done[i].sent && p.left == 0 {
			p.left = s.Software
		}
		if p.rawLeft == 0 {
			p.rawLeft = s.Hardware
		}
		return
	}
}

// passage is all that is known of an exchange of this slice.
func (d *direct) passage(i int) passage {
	e, p := &d.done[i], &d.passed[i]
	left := p.left
	if left != 0 {
		left -= d.wall
	}
	return passage{
		sent: e.sent, left: left, came: e.came, read: e.read, in: e.farIn, out: e.farOut,
		rawLeft: p.rawLeft, rawCame: p.rawCame,
	}
}

// split asks for the stamps of both ways.
func (l *directLink) split(iface string) bool {
	l.d.hardware = iface != "" && sock.StampsHardware(iface)
	_ = l.raw.Control(func(fd uintptr) {
		l.both = sock.StampBothWays(int(fd), l.d.hardware) == nil
	})
	return l.both
}
