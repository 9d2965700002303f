//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"syscall"

	"golang.org/x/sys/unix"

	"soku/internal/engine/latency/requests"
	"soku/internal/sock/longcall"
)

// The loops outside of the Go runtime. The rules for type socket apply to them.

// ask makes exchanges in a closed loop until outcome has a reason to return. It resumes
// where it stopped.
//
//go:nosplit
//go:norace
func (d *socket) ask() {
	longcall.Enter()
	d.outcome = outcomeSlice
	for d.n < d.most {
		if d.phase == phaseIdle {
			d.began = longcall.Nanotime()
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
			d.handed += d.step
		}
		if !d.receive() {
			break
		}
		read := longcall.Nanotime()
		if !d.plainReply() {
			d.moved = 0
			d.outcome = outcomeOdd
			break
		}
		e := &d.done[d.n]
		e.sent, e.came, e.read = d.began, d.came, read
		if d.split {
			d.departed()
		}
		if d.farTimes {
			at := requests.TimesAt(d.stream)
			e.farIn, e.farOut = int64(get64(d.in, at)), int64(get64(d.in, at+8))
		}
		d.n++
		d.number++
		d.phase = phaseIdle
	}
	longcall.Exit()
}

// label writes the number into the message.
//
//go:nosplit
//go:norace
func (d *socket) label() {
	switch {
	case !d.stream:
		put64(d.out, 12, d.number)
		put64(d.out, 20, uint64(d.began-d.zero))
	case d.size >= requests.NumberSize:
		put64(d.out, 0, d.number)
	}
}

//go:nosplit
//go:norace
func (d *socket) plainReply() bool {
	if d.stream {
		return d.size < requests.NumberSize || get64(d.in, 0) == d.number
	}
	return d.got == d.size && get32(d.in, 0) == requests.MagicReply && get64(d.in, 4) == d.token && get64(d.in, 12) == d.number
}

// answer replies to requests until outcome has a reason to return. It resumes where it
// stopped.
//
//go:nosplit
//go:norace
func (d *socket) answer() {
	longcall.Enter()
	d.answering()
	longcall.Exit()
}

// answering is answer for a caller that is in no long system call.
//
//go:nosplit
//go:norace
func (d *socket) answering() {
	d.outcome = outcomeSlice
	for {
		if d.phase != phaseSend {
			if d.spare <= 0 || !d.receive() {
				break
			}
			d.began = 0
			if d.farTimes {
				d.began = longcall.Nanotime()
				if d.came != 0 && d.came < d.began {
					d.began = d.came
				}
			}
			if d.stream {
				d.got = d.size
			}
			d.spare -= int64(d.got)
			if !d.stream {
				if d.got < requests.HeaderSize || d.got > d.size || get32(d.in, 0) != requests.MagicRequest {
					d.outcome = outcomeOdd
					break
				}
				d.token = get64(d.in, 4)
				put32(d.in, 0, requests.MagicReply)
			}
			d.phase, d.moved = phaseSend, 0
		}
		if at := requests.TimesAt(d.stream); d.farTimes && d.moved == 0 && int(d.got) >= at+16 {
			put64(d.in, at, uint64(d.began))
			put64(d.in, at+8, uint64(longcall.Nanotime()))
		}
		if !d.send(d.in, d.got) {
			break
		}
		d.phase, d.moved = phaseIdle, 0
		if d.once || longcall.Nanotime() >= d.stop || d.ended.Load() != 0 {
			break
		}
	}
}

// keep sends the requests of a batch when each is due and reads replies meanwhile, until
// the batch is sent, there is no room for replies, or tick. It never blocks.
//
//go:nosplit
//go:norace
func (d *socket) keep() {
	longcall.Enter()
	d.outcome = outcomeSlice
	for d.n < d.most {
		now := longcall.Nanotime()
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
	longcall.Exit()
}

// push sends what the kernel accepts of a request; a datagram that it rejects is lost.
//
//go:nosplit
//go:norace
func (d *socket) push() bool {
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

// pull polls once for a reply and stores it with its number.
//
//go:nosplit
//go:norace
func (d *socket) pull() bool {
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
	case got != d.size || get32(d.in, 0) != requests.MagicReply || get64(d.in, 4) != d.token:
		return true
	}
	r := &d.done[d.n]
	r.number = d.replies
	switch {
	case !d.stream:
		r.number = get64(d.in, 12)
	case d.size >= requests.NumberSize:
		r.number = get64(d.in, 0)
	}
	r.came, r.read = d.came, longcall.Nanotime()
	d.replies++
	d.n++
	return true
}
