package connect

import (
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
)

// rawPath is the name of this implementation in a result.
const rawPath = "raw system calls"

// bestMaker is the fastest implementation on this system.
var bestMaker makers = newRawMaker

// rawMaker opens sockets with raw system calls. connect blocks: over loopback the
// handshake is complete when it returns, without a poll. SO_SNDTIMEO limits the call
// (socket(7)); after that await waits in steps of a tick.
type rawMaker struct {
	r        *run
	fd       uintptr
	family   uintptr
	to       address
	from     []address
	turn     int
	settings sock.Settings
	special  bool // settings to set on each socket
	linger   unix.Linger
	brief    unix.Timeval // a tick
	yes      int32        // 1, for socket options
	poll     unix.PollFd
	wait     unix.Timespec
	message  []byte // preamble and request
	reply    []byte
}

// address is a sockaddr in the kernel's layout.
type address struct {
	b [unix.SizeofSockaddrInet6]byte
	n uintptr
}

func newRawMaker(r *run, index int) (maker, error) {
	m := &rawMaker{
		r: r, to: rawAddress(r.target.Addr), family: unix.AF_INET,
		linger: unix.Linger{Onoff: 1}, yes: 1,
		brief:   unix.NsecToTimeval(int64(tick)),
		wait:    unix.NsecToTimespec(int64(tick)),
		message: r.message, reply: make([]byte, max(int(r.o.Size), 1)),
		turn: index,
	}
	if r.target.Addr.Addr().Is6() {
		m.family = unix.AF_INET6
	}
	for _, s := range r.sources {
		m.from = append(m.from, rawAddress(netip.AddrPortFrom(s, 0)))
	}
	m.settings = sock.Settings{TOS: r.o.TOS, Device: r.o.Device}
	m.special = m.settings != sock.Settings{}
	return m, nil
}

// rawAddress converts an address to sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)).
func rawAddress(a netip.AddrPort) address {
	var out address
	ip := a.Addr().Unmap()
	if ip.Is4() {
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(&out.b))
		sa.Family, sa.Addr, out.n = unix.AF_INET, ip.As4(), unix.SizeofSockaddrInet4
		putPort(&sa.Port, a.Port())
		return out
	}
	sa := (*unix.RawSockaddrInet6)(unsafe.Pointer(&out.b))
	sa.Family, sa.Addr, out.n = unix.AF_INET6, ip.As16(), unix.SizeofSockaddrInet6
	sa.Scope_id = scope(ip.Zone())
	putPort(&sa.Port, a.Port())
	return out
}

func putPort(to *uint16, port uint16) {
	b := (*[2]byte)(unsafe.Pointer(to))
	b[0], b[1] = byte(port>>8), byte(port)
}

func scope(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}

func (m *rawMaker) connect() (start, end int64, how outcome) {
	fd, _, e := unix.RawSyscall(unix.SYS_SOCKET, m.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if e != 0 {
		return 0, 0, outcomeOf(e)
	}
	m.fd = fd
	if how = m.prepare(); how != opened {
		m.close()
		return 0, 0, how
	}
	start = m.r.clock.now()
	_, _, e = unix.Syscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&m.to.b)), m.to.n)
	if e == unix.EINPROGRESS || e == unix.EINTR || e == unix.EALREADY {
		e = m.await(start)
	}
	end = m.r.clock.now()
	if e != 0 {
		m.close()
		return start, end, outcomeOf(e)
	}
	return start, end, opened
}

// prepare sets the options of a new socket.
func (m *rawMaker) prepare() outcome {
	m.set(unix.SOL_SOCKET, unix.SO_SNDTIMEO, unsafe.Pointer(&m.brief), unsafe.Sizeof(m.brief))
	if m.r.target.Reset {
		m.set(unix.SOL_SOCKET, unix.SO_LINGER, unsafe.Pointer(&m.linger), unsafe.Sizeof(m.linger))
	}
	if m.r.serves() {
		m.set(unix.SOL_SOCKET, unix.SO_RCVTIMEO, unsafe.Pointer(&m.brief), unsafe.Sizeof(m.brief))
	}
	if m.special {
		if err := m.settings.Control("tcp", "", descriptor(m.fd)); err != nil {
			m.r.fail(err)
			return stopped
		}
	}
	if len(m.from) == 0 {
		return opened
	}
	// connect chooses the port: it knows the remote address and may reuse a port that is
	// in use with another one.
	m.set(unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, unsafe.Pointer(&m.yes), unsafe.Sizeof(m.yes))
	from := &m.from[m.turn%len(m.from)]
	m.turn++
	if _, _, e := unix.RawSyscall(unix.SYS_BIND, m.fd, uintptr(unsafe.Pointer(&from.b)), from.n); e != 0 {
		if e == unix.EADDRINUSE {
			return noPort
		}
		return badSource
	}
	return opened
}

func (m *rawMaker) set(level, name int, value unsafe.Pointer, size uintptr) {
	_, _, _ = unix.RawSyscall6(unix.SYS_SETSOCKOPT, m.fd, uintptr(level), uintptr(name), uintptr(value), size, 0)
}

// await waits for a handshake in progress, at most the connect timeout.
func (m *rawMaker) await(start int64) syscall.Errno {
	for {
		if m.r.stop.Load() {
			return unix.ECANCELED
		}
		if m.r.clock.now()-start >= m.r.timeout {
			return unix.ETIMEDOUT
		}
		m.poll = unix.PollFd{Fd: int32(m.fd), Events: unix.POLLOUT}
		left := m.wait // the kernel writes what is left into it
		n, _, e := unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&m.poll)), 1, uintptr(unsafe.Pointer(&left)), 0, 0, 0)
		if e != 0 && e != unix.EINTR {
			return e
		}
		if e != 0 || n == 0 {
			continue
		}
		var failed, size int32 = 0, 4
		_, _, e = unix.RawSyscall6(unix.SYS_GETSOCKOPT, m.fd, unix.SOL_SOCKET, unix.SO_ERROR, uintptr(unsafe.Pointer(&failed)), uintptr(unsafe.Pointer(&size)), 0)
		if e != 0 {
			return e
		}
		return syscall.Errno(failed)
	}
}

func (m *rawMaker) serve() outcome {
	began := m.r.clock.now()
	for left := m.message; len(left) > 0; {
		n, _, e := unix.Syscall6(unix.SYS_SENDTO, m.fd, uintptr(unsafe.Pointer(&left[0])), uintptr(len(left)), unix.MSG_NOSIGNAL, 0, 0)
		if e == 0 {
			left = left[n:]
		} else if how := m.pausedOr(e, began); how != opened {
			return how
		}
	}
	for have := 0; have < int(m.r.o.Size); {
		n, how := m.receive(m.reply[have:], began)
		if how != opened {
			return how
		}
		if n == 0 {
			return closedEarly
		}
		have += n
	}
	if !m.r.target.Await {
		return opened
	}
	n, how := m.receive(m.reply[:1], began)
	if how == opened && n > 0 {
		return other // more bytes than requested
	}
	if how == reset && m.r.target.Reset {
		return opened // closed is closed
	}
	return how
}

// receive waits for at least one byte; 0 is the far end's close.
func (m *rawMaker) receive(b []byte, began int64) (int, outcome) {
	for {
		n, _, e := unix.Syscall(unix.SYS_READ, m.fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if e == 0 {
			return int(n), opened
		}
		if how := m.pausedOr(e, began); how != opened {
			return 0, how
		}
	}
}

// pausedOr returns opened for an error after which the call is repeated.
func (m *rawMaker) pausedOr(e syscall.Errno, began int64) outcome {
	switch {
	case e != unix.EAGAIN && e != unix.EINTR:
		return outcomeOf(e)
	case m.r.stop.Load():
		return stopped
	case m.r.clock.now()-began >= m.r.timeout:
		return timedOut
	}
	return opened
}

func (m *rawMaker) close() { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, m.fd, 0, 0) }

// descriptor is a file descriptor in the form that package sock needs.
type descriptor uintptr

func (d descriptor) Control(f func(fd uintptr)) error  { f(uintptr(d)); return nil }
func (d descriptor) Read(func(fd uintptr) bool) error  { return syscall.ENOTSUP }
func (d descriptor) Write(func(fd uintptr) bool) error { return syscall.ENOTSUP }
