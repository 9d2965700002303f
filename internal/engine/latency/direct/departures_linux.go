//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/engine/latency/requests"
	"soku/internal/sock"
)

// departures is the additional state of a direct socket that splits round trips. The
// rules for type socket apply to its methods.
type departures struct {
	hardware bool     // the interface can stamp
	passed   []passed // of the messages in done
	step     uint32   // by how much a message moves the kernel's key
	handed   uint32   // the key of the next message
	cameRaw  int64    // as came, of the interface
	heard    sock.Stamps
}

// passed is when a request departed, by the wall clock and by the interface's clock, and
// when the reply arrived by the latter; 0 is unknown.
type passed struct {
	key                    uint32
	left, rawLeft, rawCame int64
}

const (
	// mostStamps limits the stamps that one exchange reads: its own two, and some left by
	// requests without a reply.
	mostStamps = 8
	// lateStamps is how many exchanges back a stamp is still assigned: an interface may
	// report a departure late.
	lateStamps = 4
)

// arrived stores the stamps of what was just read.
//
//go:nosplit
//go:norace
func (d *socket) arrived(ok bool) {
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
func (d *socket) readStamps() {
	control := (*[unsafe.Sizeof(d.control)]byte)(unsafe.Pointer(&d.control))
	d.heard.Read(control[:min(d.header.controlLen, uintptr(len(control)))])
}

// departed reads from the error queue when requests departed. It is called with the
// newest reply received: the stamp of its request is there by then, if there is one. It
// never blocks.
//
//go:nosplit
//go:norace
func (d *socket) departed() {
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
			// No newer request: the kernel has counted messages that this end has not.
			p.key, d.handed = s.Key, s.Key+1
		}
		d.file(s)
	}
}

// file assigns a stamp to its exchange. Only the first of each kind counts, because
// retransmissions depart later. A departure before the request was sent belongs to
// something else with the same key.
//
//go:nosplit
//go:norace
func (d *socket) file(s *sock.Stamps) {
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

// passage returns all known times of exchange i of this slice.
func (d *socket) passage(i int) requests.Passage {
	e, p := &d.done[i], &d.passed[i]
	left := p.left
	if left != 0 {
		left -= d.wall
	}
	return requests.Passage{
		Sent: e.sent, Left: left, Came: e.came, Read: e.read, In: e.farIn, Out: e.farOut,
		RawLeft: p.rawLeft, RawCame: p.rawCame,
	}
}

// Split enables the time stamps of both directions.
func (l *looper) Split(iface string) bool {
	l.d.hardware = iface != "" && sock.StampsHardware(iface)
	_ = l.raw.Control(func(fd uintptr) {
		l.both = sock.StampBothWays(int(fd), l.d.hardware) == nil
	})
	return l.both
}
