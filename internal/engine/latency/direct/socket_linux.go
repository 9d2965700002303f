//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/sock/longcall"
)

// Length of a slice of exchanges, after which its thread returns to count them and to
// check whether the connection was closed. If the socket blocks, a tick may be added.
// Returning wakes the runtime's monitor, which then runs every 20 µs for a while, on a
// processor that a spinning loop needs; so spinning loops return as rarely as possible.
const (
	sliceBlocking = int64(20 * time.Millisecond)
	sliceSpinning = int64(60 * time.Millisecond)
	// mostDone is enough for round trips of 7 µs.
	mostDone = 8192
)

// spinPasses is the number of empty polls between two readings of the clock: some
// microseconds.
const spinPasses = 32

// batchMost is how many requests of an open loop are planned at a time.
const batchMost = 64

// outcome is why a slice of exchanges returned.
type outcome uint8

const (
	outcomeSlice  outcome = iota // time to check the context, or no room for more
	outcomeQuiet                 // nothing arrived for a tick
	outcomeOdd                   // a datagram other than the expected
	outcomeFailed                // with errno
	outcomeEnd                   // the stream ended
)

// phase is the state of an exchange.
type phase uint8

const (
	phaseIdle phase = iota
	phaseSend       // moved bytes of the message are sent
	phaseWait       // moved bytes of the reply have arrived
)

// socket is a socket used without the runtime, and the state of a slice of exchanges. The
// goroutine that owns it has a thread of its own.
type socket struct {
	fd     uintptr
	spin   bool
	stream bool
	stamps bool
	split  bool // stamps are of both ways
	once   bool // poll the socket once and return
	// farTimes: replies carry the times of the echo.
	farTimes bool

	out, in []byte  // in has room for one more byte than a message
	size    uintptr // of a message; over datagrams the longest

	phase  phase
	moved  uintptr // bytes in this phase
	got    uintptr // bytes of the last datagram
	number uint64  // of the exchange under way
	token  uint64

	// Of an echo: bytes that it may still receive and answer, and how many that were.
	spare, lent int64

	// Times are of longcall.Nanotime.
	stop, tick int64 // begin no exchange after stop; return from waiting at tick
	began      int64 // the exchange under way
	zero       int64 // the start of the trial
	wall       int64 // how far the wall clock is ahead of longcall.Nanotime
	came       int64 // when the kernel received what was read last, 0 if unknown

	ended   atomic.Uint32 // by its context
	outcome outcome
	errno   syscall.Errno
	most    int // exchanges in done at which it comes back
	n       int // exchanges in done
	done    []exchange

	// Of an open loop.
	next, batch int              // requests of the batch: sent, and all
	due, left   [batchMost]int64 // when each is due and was sent, longcall.Nanotime
	gone        uintptr          // bytes sent of the current request
	replies     uint64

	header  msghdr
	vector  iovec
	control [32]uint64

	departures
}

// exchange is one round trip: when the request was sent, when the kernel and the program
// had the reply, and when the far end received the request and answered.
type exchange struct {
	sent, came, read, farIn, farOut int64
	number                          uint64 // of an open loop, which knows no more of the request
}

// msghdr and iovec are the kernel's structs, with addresses as integers: the slices
// with the same names keep the memory alive.
type msghdr struct {
	name       uintptr
	nameLen    uint64
	vector     uintptr
	vectorLen  uintptr
	control    uintptr
	controlLen uintptr
	flags      uint64
}

type iovec struct{ base, len uintptr }

//go:nosplit
//go:norace
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

//go:nosplit
//go:norace
func get32(b []byte, at int) uint32 {
	return uint32(b[at])<<24 | uint32(b[at+1])<<16 | uint32(b[at+2])<<8 | uint32(b[at+3])
}

//go:nosplit
//go:norace
func get64(b []byte, at int) uint64 { return uint64(get32(b, at))<<32 | uint64(get32(b, at+4)) }

//go:nosplit
//go:norace
func put32(b []byte, at int, v uint32) {
	b[at], b[at+1], b[at+2], b[at+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

//go:nosplit
//go:norace
func put64(b []byte, at int, v uint64) {
	put32(b, at, uint32(v>>32))
	put32(b, at+4, uint32(v))
}

// send sends the rest of n bytes of the message. If it returns false, outcome has the
// reason.
//
//go:nosplit
//go:norace
func (d *socket) send(b []byte, n uintptr) bool {
	flags := uintptr(unix.MSG_NOSIGNAL)
	if d.spin {
		flags |= unix.MSG_DONTWAIT
	}
	for passes := 0; d.moved < n; {
		sent, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, d.fd, address(b)+d.moved, n-d.moved, flags, 0, 0)
		switch {
		case e == 0:
			d.moved += sent
		case e != syscall.EAGAIN && e != syscall.EINTR:
			d.outcome, d.errno = outcomeFailed, e
			return false
		default:
			if passes++; (!d.spin || passes%spinPasses == 0) && d.late() {
				d.outcome = outcomeQuiet
				return false
			}
		}
	}
	return true
}

// late reports whether to return from waiting.
//
//go:nosplit
//go:norace
func (d *socket) late() bool { return d.ended.Load() != 0 || longcall.Nanotime() >= d.tick }

// receive waits for a whole message of a stream or for one datagram.
//
//go:nosplit
//go:norace
func (d *socket) receive() bool {
	flags := uintptr(0)
	if d.spin {
		flags = unix.MSG_DONTWAIT
	}
	room := uintptr(len(d.in))
	if d.stream {
		room = d.size
	}
	for passes := 0; ; {
		got, e := d.take(room-d.moved, flags)
		switch {
		case e == 0 && !d.stream:
			d.got = got
			return true
		case e == 0 && got == 0:
			d.outcome = outcomeEnd
			return false
		case e == 0:
			if d.moved += got; d.moved == d.size {
				return true
			}
		case e != syscall.EAGAIN && e != syscall.EINTR:
			d.outcome, d.errno = outcomeFailed, e
			return false
		default:
			if passes++; d.once || (!d.spin || passes%spinPasses == 0) && d.late() {
				d.outcome = outcomeQuiet
				return false
			}
		}
	}
}

// take makes one system call, which also returns the kernel's time stamp if enabled.
//
//go:nosplit
//go:norace
func (d *socket) take(room, flags uintptr) (uintptr, syscall.Errno) {
	if !d.stamps {
		n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, d.fd, address(d.in)+d.moved, room, flags, 0, 0)
		return n, e
	}
	d.vector.base, d.vector.len = address(d.in)+d.moved, room
	d.header.controlLen = unsafe.Sizeof(d.control)
	n, _, e := syscall.RawSyscall(syscall.SYS_RECVMSG, d.fd, uintptr(unsafe.Pointer(&d.header)), flags)
	d.came = 0
	if d.split {
		d.arrived(e == 0)
		return n, e
	}
	// One control message, as the kernel lays it out (cmsg(3)) on these little-endian machines.
	if const32 := uint64(unix.SOL_SOCKET) | unix.SCM_TIMESTAMPNS<<32; e == 0 && d.header.controlLen >= 32 && d.control[1] == const32 {
		d.came = int64(d.control[2])*1e9 + int64(d.control[3]) - d.wall
	}
	return n, e
}
