package probe

import (
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
)

// sockets is a prober on one raw socket, or on a datagram socket for each flow.
type sockets struct {
	codec
	fds     []int // one, or one a flow
	held    []int // keep ports
	raw     bool
	stamped bool
	how     string
	foreign int64
	buffer  [4096]byte
	control [512]byte
}

const (
	optionRFC4884  = 26 // IP_RECVERR_RFC4884 of linux/in.h
	optionRFC48846 = 31 // IPV6_RECVERR_RFC4884 of linux/in6.h
)

// ready sets the options that all probe sockets have, and connects the socket.
func (p *sockets) ready(c Config, fd, port int) error {
	if err := ReportErrors(fd, p.v6); err != nil {
		return err
	}
	level, discover, extended := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, optionRFC4884
	if p.v6 {
		level, discover, extended = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, optionRFC48846
		if err := unix.SetsockoptInt(fd, level, unix.IPV6_DONTFRAG, 1); err != nil {
			return err
		}
	}
	// Unfragmented, and independent of the path MTU that the system has cached.
	if err := unix.SetsockoptInt(fd, level, discover, unix.IP_PMTUDISC_PROBE); err != nil {
		return err
	}
	_ = unix.SetsockoptInt(fd, level, extended, 1) // since Linux 5.9; labels are missing without it
	p.stamped = sock.Stamp(fd, true) == nil
	if err := unix.Connect(fd, Sockaddr(c.Target, port)); err != nil {
		return SendError(c.What, c.Target, err)
	}
	return nil
}

func setHop(fd int, v6 bool, hop int) error {
	if v6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, hop)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, hop)
}

func (p *sockets) Send(flow, hop int, number uint16, size int) error {
	fd := p.fds[0]
	if !p.raw {
		fd = p.fds[flow]
	}
	b := p.build(flow, number, size)
	if !p.raw && p.kind == "udp" {
		b = b[udpHead:]
	}
	if err := setHop(fd, p.v6, hop); err != nil {
		return err
	}
	_, err := unix.Write(fd, b)
	// The error may be about an earlier probe; then this one was not sent.
	for range 3 {
		if err == nil {
			return nil
		}
		_, err = unix.Write(fd, b)
	}
	if errors.Is(err, unix.EMSGSIZE) {
		return ErrTooLong
	}
	return err
}

func (p *sockets) Receive(wait time.Duration, take func(Answer)) error {
	polled := make([]unix.PollFd, len(p.fds))
	for i, fd := range p.fds {
		polled[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	n, err := poll(polled, wait)
	if err != nil || n == 0 {
		return err
	}
	const most = 256 // packets in one call: a host may flood this one
	for i, fd := range p.fds {
		if polled[i].Revents == 0 {
			continue
		}
		for range most {
			if !p.failure(fd, i, take) {
				break
			}
		}
		for range most {
			if !p.packet(fd, i, take) {
				break
			}
		}
	}
	return nil
}

// poll waits in whole milliseconds, rounded up.
func poll(fds []unix.PollFd, wait time.Duration) (n int, err error) {
	n, err = unix.Poll(fds, int((max(wait, 0)+time.Millisecond-1)/time.Millisecond))
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return n, err
}

// failure reads one ICMP error from the error queue, and returns false if the queue is empty.
func (p *sockets) failure(fd, flow int, take func(Answer)) bool {
	n, controlled, _, about, err := unix.Recvmsg(fd, p.buffer[:], p.control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return false
	}
	at := arrival(p.control[:controlled])
	e, ok := extendedIn(p.control[:controlled], p.v6)
	if !ok {
		return true // caused by this system itself
	}
	if about != nil && AddrOf(about) != p.to.WithZone("") {
		p.foreign++
		return true
	}
	if a, ok := p.judge(p.buffer[:n], e, flow); ok {
		a.At = at
		take(a)
	} else {
		p.foreign++
	}
	return true
}

// judge matches an error with its probe. flow is that of the socket; a raw socket has all
// flows.
func (p *sockets) judge(quoted []byte, e Extended, flow int) (a Answer, ok bool) {
	if p.raw || p.kind != "udp" {
		if a.Flow, a.Number, ok = p.quoted(quoted); !ok || !p.raw && a.Flow != flow {
			return Answer{}, false
		}
	} else {
		a.Flow = flow
		a.Number, ok = p.payload(quoted)
		if a.Vague = !ok; a.Vague && p.alien(quoted, 0) {
			return Answer{}, false
		}
	}
	a.fill(e, quoted, &p.codec)
	return a, a.Kind != Nothing
}

// packet reads one packet from the target, and returns false if there are no more.
func (p *sockets) packet(fd, flow int, take func(Answer)) bool {
	n, controlled, _, from, err := unix.Recvmsg(fd, p.buffer[:], p.control[:], unix.MSG_DONTWAIT)
	if err != nil {
		return !errors.Is(err, unix.EAGAIN) // a socket error is also in the error queue
	}
	a := Answer{Kind: Arrived, From: p.to.WithZone(""), At: arrival(p.control[:controlled]), Flow: flow}
	if sender := AddrOf(from); sender.IsValid() && sender != a.From {
		return true
	}
	b, ok := p.buffer[:n], true
	switch {
	case !p.raw && p.kind == "udp":
		a.Vague = true
	default:
		if p.raw && !p.v6 {
			if b, ok = StripIPv4(b); !ok {
				return true
			}
		}
		a.Flow, a.Number, a.Vague, ok = p.reply(b)
		ok = ok && (p.raw || a.Flow == flow)
	}
	if ok {
		take(a)
	}
	return true
}

// arrival returns the kernel's time stamp of a packet, or now.
func arrival(control []byte) time.Time {
	now := time.Now()
	return now.Add(-sock.Late(sock.Stamped(control), now))
}

// extendedIn finds the ICMP error in control messages.
func extendedIn(control []byte, v6 bool) (Extended, bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return Extended{}, false
	}
	for _, m := range messages {
		is4 := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR
		is6 := m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if is4 || is6 {
			return ParseExtended(m.Data, v6)
		}
	}
	return Extended{}, false
}

func (p *sockets) Forget(uint16)     {}
func (p *sockets) Serial() bool      { return false }
func (p *sockets) Port(flow int) int { return int(p.ports[flow]) }
func (p *sockets) Local() netip.Addr { return p.from }
func (p *sockets) Foreign() int64    { return p.foreign }

// Timing implements Prober.
func (p *sockets) Timing() measure.Timing { return timing(p.how, p.stamped) }

func timing(socket string, stamped bool) measure.Timing {
	if stamped {
		return measure.Timing{Socket: socket, Clock: measure.ClockKernelArrival}
	}
	return measure.Timing{Socket: socket, Clock: measure.ClockProgram}
}

func (p *sockets) Close() {
	for _, fd := range append(p.fds, p.held...) {
		_ = unix.Close(fd)
	}
}
