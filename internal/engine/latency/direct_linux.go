//go:build linux && (amd64 || arm64) && !race

package latency

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe" // and go:linkname

	"golang.org/x/sys/unix"
)

// A run of exchanges is, to the Go runtime, one long system call: its thread
// has given its processor of the runtime away, so no garbage collection waits
// for it, no monitor interrupts it every 10 ms, and any number of such threads
// leave the rest of the program alone. Between the two calls below there is no
// processor of the runtime: the code may not grow its stack (go:nosplit on
// everything it calls, which the linker checks), not allocate, and not store
// pointers. The runtime documents the three as fixed because others link to
// them too.

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// How long a run of exchanges goes on before its thread comes back to file them and
// to see whether the connection was closed elsewhere. While a socket blocks, a tick
// may come on top. Coming back wakes the runtime's monitor, which then looks around
// every 20 µs for a while, on a processor that a spinning loop wants; so those
// come back as rarely as may be.
const (
	sliceBlocking = int64(20 * time.Millisecond)
	sliceSpinning = int64(60 * time.Millisecond)
	// mostDone is for round trips of 7 µs.
	mostDone = 8192
)

// spinPasses is how many empty looks at a socket there are from one look at the
// clock to the next: some microseconds.
const spinPasses = 32

// batchMost is how many requests of an open loop are planned at a time.
const batchMost = 64

// outcome says why a run of exchanges came back.
type outcome uint8

const (
	outcomeSlice  outcome = iota // time to look at the context, or no room for more
	outcomeQuiet                 // a tick went by without what was waited for
	outcomeOdd                   // a datagram that is none of the plain ones
	outcomeFailed                // errno says how
	outcomeEnd                   // the stream ended
)

// phase is where an exchange is.
type phase uint8

const (
	phaseIdle phase = iota
	phaseSend       // moved bytes of the message have left
	phaseWait       // moved bytes of the reply have come
)

// direct is a socket, used without the runtime, and what a run of exchanges
// works on. The goroutine that owns it has a thread of its own.
type direct struct {
	fd     uintptr
	spin   bool
	stream bool
	stamps bool
	oneWay bool // requests are answered with the times of the echo
	once   bool // look at the socket once, wait for nothing

	out, in []byte  // in has room for one more byte than a message
	size    uintptr // of a message; over datagrams the longest

	phase  phase
	moved  uintptr // bytes in this phase
	got    uintptr // bytes of the last datagram
	number uint64  // of the exchange under way
	token  uint64

	// Times are of nanotime.
	stop, tick int64 // begin nothing from then on; come back from waiting then
	began      int64 // the exchange under way
	zero       int64 // the start of the trial
	wall       int64 // what the wall clock is ahead of nanotime
	came       int64 // when the kernel had what was read last, 0 if it does not say

	ended   atomic.Uint32 // by its context
	outcome outcome
	errno   syscall.Errno
	most    int // exchanges in done at which it comes back
	n       int // exchanges in done
	done    []exchange

	// Of an open loop.
	next, batch int              // requests of the batch that have left, and all
	due, left   [batchMost]int64 // when each is due and has left, nanotime
	gone        uintptr          // bytes of the request that is leaving
	replies     uint64

	header  msghdr
	vector  iovec
	control [8]uint64
}

// exchange is one round trip: when the request left, when the kernel and the
// program had the reply, and when the far end had the request and answered.
type exchange struct {
	sent, came, read, farIn, farOut int64
	number                          uint64 // of an open loop, which knows no more of the request
}

// msghdr and iovec are the kernel's, with addresses that are no pointers: what
// they lead to is kept alive by the slices beside them.
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

// send hands what is left of n bytes of the message to the kernel. It is false
// where outcome says why not.
//
//go:nosplit
//go:norace
func (d *direct) send(b []byte, n uintptr) bool {
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

// late reports whether to come back from waiting.
//
//go:nosplit
//go:norace
func (d *direct) late() bool { return d.ended.Load() != 0 || nanotime() >= d.tick }

// receive waits for a whole message of a stream or for one datagram.
//
//go:nosplit
//go:norace
func (d *direct) receive() bool {
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

// take is one system call, with the kernel's stamp where that is asked for.
//
//go:nosplit
//go:norace
func (d *direct) take(room, flags uintptr) (uintptr, syscall.Errno) {
	if !d.stamps {
		n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, d.fd, address(d.in)+d.moved, room, flags, 0, 0)
		return n, e
	}
	d.vector.base, d.vector.len = address(d.in)+d.moved, room
	d.header.controlLen = unsafe.Sizeof(d.control)
	n, _, e := syscall.RawSyscall(syscall.SYS_RECVMSG, d.fd, uintptr(unsafe.Pointer(&d.header)), flags)
	d.came = 0
	// One control message, as the kernel lays it out (cmsg(3)) on these little-endian machines.
	if const32 := uint64(unix.SOL_SOCKET) | unix.SCM_TIMESTAMPNS<<32; e == 0 && d.header.controlLen >= 32 && d.control[1] == const32 {
		d.came = int64(d.control[2])*1e9 + int64(d.control[3]) - d.wall
	}
	return n, e
}

// ask makes exchanges one after the other, the next request when the reply is
// in, until outcome says why not. It goes on where it was.
//
//go:nosplit
//go:norace
func (d *direct) ask() {
	entersyscallblock()
	d.outcome = outcomeSlice
	for d.n < d.most {
		if d.phase == phaseIdle {
			d.began = nanotime()
			if d.began >= d.stop || d.ended.Load() != 0 {
				break
			}
			d.label()
			d.phase, d.moved = phaseSend, 0
		}
		if d.phase == phaseSend {
			if !d.send(d.out, d.size) {
				break
			}
			d.phase, d.moved = phaseWait, 0
		}
		if !d.receive() {
			break
		}
		read := nanotime()
		if !d.plainReply() {
			d.moved = 0
			d.outcome = outcomeOdd
			break
		}
		e := &d.done[d.n]
		e.sent, e.came, e.read = d.began, d.came, read
		if d.oneWay {
			at := timesAt(d.stream)
			e.farIn, e.farOut = int64(get64(d.in, at)), int64(get64(d.in, at+8))
		}
		d.n++
		d.number++
		d.phase = phaseIdle
	}
	exitsyscall()
}

// label writes what tells this message from others.
//
//go:nosplit
//go:norace
func (d *direct) label() {
	switch {
	case !d.stream:
		put64(d.out, 12, d.number)
		put64(d.out, 20, uint64(d.began-d.zero))
	case d.size >= numberSize:
		put64(d.out, 0, d.number)
	}
}

//go:nosplit
//go:norace
func (d *direct) plainReply() bool {
	if d.stream {
		return d.size < numberSize || get64(d.in, 0) == d.number
	}
	return d.got == d.size && get32(d.in, 0) == magicReply && get64(d.in, 4) == d.token && get64(d.in, 12) == d.number
}

// answer replies to requests until outcome says why not. It goes on where it was.
//
//go:nosplit
//go:norace
func (d *direct) answer() {
	entersyscallblock()
	d.answering()
	exitsyscall()
}

// answering is answer for a caller that is in no long system call.
//
//go:nosplit
//go:norace
func (d *direct) answering() {
	d.outcome = outcomeSlice
	for {
		if d.phase != phaseSend {
			if !d.receive() {
				break
			}
			d.began = 0
			if d.oneWay {
				d.began = nanotime()
				if d.came != 0 && d.came < d.began {
					d.began = d.came
				}
			}
			if d.stream {
				d.got = d.size
			} else if d.got < headerSize || d.got > d.size || get32(d.in, 0) != magicRequest {
				d.outcome = outcomeOdd
				break
			} else {
				d.token = get64(d.in, 4)
				put32(d.in, 0, magicReply)
			}
			d.phase, d.moved = phaseSend, 0
		}
		if at := timesAt(d.stream); d.oneWay && d.moved == 0 && int(d.got) >= at+16 {
			put64(d.in, at, uint64(d.began))
			put64(d.in, at+8, uint64(nanotime()))
		}
		if !d.send(d.in, d.got) {
			break
		}
		d.phase, d.moved = phaseIdle, 0
		if d.once || nanotime() >= d.stop || d.ended.Load() != 0 {
			break
		}
	}
}

// keep sends the requests of a batch when each is due and reads replies meanwhile,
// until the batch is sent, the replies have no room or tick. It waits for nothing.
//
//go:nosplit
//go:norace
func (d *direct) keep() {
	entersyscallblock()
	d.outcome = outcomeSlice
	for d.n < d.most {
		now := nanotime()
		if now >= d.tick || d.ended.Load() != 0 || d.next == d.batch && d.batch > 0 {
			break
		}
		if d.phase == phaseIdle && d.next < d.batch && now >= d.due[d.next] {
			d.left[d.next], d.began = now, now
			d.label()
			d.phase, d.gone = phaseSend, 0
		}
		if d.phase == phaseSend && !d.push() || !d.pull() {
			break
		}
	}
	exitsyscall()
}

// push hands over what the kernel takes of a request; a datagram that it does not
// take is gone.
//
//go:nosplit
//go:norace
func (d *direct) push() bool {
	sent, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, d.fd, address(d.out)+d.gone, d.size-d.gone, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	switch {
	case e == syscall.EAGAIN || e == syscall.EINTR:
		return true
	case e == 0:
		if d.gone += sent; d.gone < d.size {
			return true
		}
	case d.stream || e != syscall.ECONNREFUSED && e != syscall.ENOBUFS:
		d.outcome, d.errno = outcomeFailed, e
		return false
	}
	d.phase = phaseIdle
	d.number++
	d.next++
	return true
}

// pull looks once for a reply and keeps it with its number.
//
//go:nosplit
//go:norace
func (d *direct) pull() bool {
	room := uintptr(len(d.in))
	if d.stream {
		room = d.size - d.moved
	}
	got, e := d.take(room, unix.MSG_DONTWAIT)
	switch {
	case e == syscall.EAGAIN || e == syscall.EINTR:
		return true
	case e != 0:
		d.outcome, d.errno = outcomeFailed, e
		return false
	case d.stream && got == 0:
		d.outcome = outcomeEnd
		return false
	case d.stream:
		if d.moved += got; d.moved < d.size {
			return true
		}
		d.moved = 0
	case got != d.size || get32(d.in, 0) != magicReply || get64(d.in, 4) != d.token:
		return true
	}
	r := &d.done[d.n]
	r.number = d.replies
	switch {
	case !d.stream:
		r.number = get64(d.in, 12)
	case d.size >= numberSize:
		r.number = get64(d.in, 0)
	}
	r.came, r.read = d.came, nanotime()
	d.replies++
	d.n++
	return true
}
