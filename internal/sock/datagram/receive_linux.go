package datagram

import (
	"errors"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
)

// controlBytes is room for the control messages of one message: a time stamp, and the
// length of joined segments.
const controlBytes = 64

// receiveCalls are the arguments of a receiver's system calls, and the means to find out
// which of its sockets have data. The runtime's poller could do that too, but wakes a
// goroutine for each.
type receiveCalls struct {
	messages []message
	vectors  []unix.Iovec
	control  []byte
	bytes    []byte
	slot     int
	used     int // messages written by the last call

	// A few sockets are polled with poll(2) when the receiver waits. An epoll instance is
	// notified of each datagram, awaited or not, which costs a twentieth of the work of a
	// sender on the same host. It is used for more sockets only, and is -1 until then.
	asked  [few]unix.PollFd
	epoll  int
	events [64]unix.EpollEvent

	parking *sock.Parking // or nil before the first Park
}

func (r *receiveCalls) prepare(b []byte, slot, slots int) error {
	r.bytes, r.slot = b, slot
	r.messages, r.vectors = make([]message, slots), make([]unix.Iovec, slots)
	r.control = make([]byte, slots*controlBytes)
	for i := range r.messages {
		r.vectors[i].Base = &b[i*slot]
		r.vectors[i].SetLen(slot)
		h := &r.messages[i].header
		h.Iov, h.Control = &r.vectors[i], &r.control[i*controlBytes]
		h.SetIovlen(1)
	}
	r.used, r.epoll = slots, -1
	return nil
}

func (r *receiveCalls) close() {
	if r.messages != nil && r.epoll >= 0 {
		_ = unix.Close(r.epoll)
		r.epoll = -1
	}
	if r.parking != nil {
		r.parking.Close()
	}
}

// watch adds inlet number, whose socket is fd, to those that poll checks.
func (r *receiveCalls) watch(number int, fd int32) error {
	if number < few {
		r.asked[number] = unix.PollFd{Fd: fd, Events: unix.POLLIN}
		return nil
	}
	if r.epoll >= 0 {
		return r.hear(number, fd)
	}
	var err error
	if r.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for i, p := range r.asked {
		if p.Fd >= 0 {
			err = errors.Join(err, r.hear(i, p.Fd))
		}
	}
	return errors.Join(err, r.hear(number, fd))
}

func (r *receiveCalls) hear(number int, fd int32) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(number)}
	return unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, int(fd), &event)
}

// forget undoes watch.
func (r *receiveCalls) forget(number int, fd int32) {
	if number < few {
		r.asked[number].Fd = -1 // poll(2) skips it
	}
	if r.epoll >= 0 {
		_ = unix.EpollCtl(r.epoll, unix.EPOLL_CTL_DEL, int(fd), nil)
	}
}

// read returns message i of the last call.
func (r *receiveCalls) read(i int) Train {
	m := &r.messages[i]
	n := min(int(m.header.Controllen), controlBytes)
	arrived, segment := parseControl(r.control[i*controlBytes : i*controlBytes+n])
	return newTrain(r.bytes[i*r.slot:(i+1)*r.slot], int(m.length), segment, arrived)
}

// receiveCall is the state of system calls on one connection.
type receiveCall struct {
	raw   syscall.RawConn
	try   func(fd uintptr) bool // attempt, allocated once
	count int
	errno syscall.Errno
}

func (in *Inlet) open() error {
	c := &in.call
	broken := func(err error) error {
		return measure.Fail(measure.KindBroken, "sock.datagram.open_receiver", measure.Figures{
			"peer": in.conn.RemoteAddr().String(), "cause": err,
		})
	}
	var err error
	if c.raw, err = in.conn.(*net.UDPConn).SyscallConn(); err != nil {
		return broken(err)
	}
	c.try = in.attempt
	var inner error
	err = c.raw.Control(func(fd uintptr) {
		_ = sock.Stamp(int(fd), true) // if this fails, the program's clock is used
		if in.receiver.path == GRO {
			inner = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1)
		}
		if inner == nil {
			inner = in.receiver.calls.watch(in.number, int32(fd))
		}
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return broken(err)
	}
	return nil
}

func (in *Inlet) leave() {
	if in.call.raw == nil {
		return
	}
	_ = in.call.raw.Control(func(fd uintptr) { in.receiver.calls.forget(in.number, int32(fd)) })
}

func (in *Inlet) receive() (int, error) {
	c := &in.call
	c.count, c.errno = 0, 0
	if err := c.raw.Read(c.try); err != nil {
		return 0, err
	}
	switch c.errno {
	case 0, unix.EAGAIN, unix.EINTR:
		in.receiver.messages = c.count
		return c.count, nil
	}
	return 0, c.errno
}

// attempt receives with one system call that does not wait.
func (in *Inlet) attempt(fd uintptr) bool {
	r := &in.receiver.calls
	for i := range r.messages[:r.used] {
		r.messages[i].header.SetControllen(controlBytes)
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&r.messages[0])), uintptr(len(r.messages)),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	r.used = 0
	if in.call.errno = errno; errno == 0 {
		in.call.count, r.used = int(n), int(n)
	}
	return true
}

// unparkedMost is how long Park waits where nothing ends its wait.
const unparkedMost = 80 * time.Millisecond

// Park waits without a thread until an inlet may have data, until g changes, or for d. The first call
// does not wait: changes of g end the wait of later ones.
func (r *Receiver) Park(d time.Duration, g *sock.Group) {
	c := &r.calls
	if c.parking == nil {
		c.parking = sock.NewParking()
		g.OnChange(c.parking.Wake)
		return
	}
	if !c.parking.Works() {
		d = min(d, unparkedMost)
	}
	if c.epoll >= 0 {
		c.parking.Wait([]unix.PollFd{{Fd: int32(c.epoll), Events: unix.POLLIN}}, d)
		return
	}
	c.parking.Wait(c.asked[:len(r.inlet)], d)
}

// poll returns the inlets that have data. Only a call that may wait notifies the runtime.
func (r *Receiver) poll(wait time.Duration) []int {
	c := &r.calls
	ms := 0
	if wait > 0 {
		ms = int(max(1, wait.Milliseconds()))
	}
	if c.epoll < 0 {
		asked := c.asked[:len(r.inlet)]
		if n, err := unix.Poll(asked, ms); n <= 0 || err != nil {
			return r.ready
		}
		for i, p := range asked {
			if p.Revents != 0 {
				r.ready = append(r.ready, i)
			}
		}
		return r.ready
	}
	events, room := uintptr(unsafe.Pointer(&c.events[0])), uintptr(len(c.events))
	var n uintptr
	var errno syscall.Errno
	if ms > 0 {
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(c.epoll), events, room, uintptr(ms), 0, 0)
	} else {
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(c.epoll), events, room, 0, 0, 0)
	}
	if errno != 0 {
		return r.ready
	}
	for _, e := range c.events[:n] {
		r.ready = append(r.ready, int(e.Fd))
	}
	return r.ready
}
