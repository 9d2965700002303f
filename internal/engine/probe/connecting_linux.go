package probe

import (
	"errors"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
)

// connecting is a prober whose probes are SYNs of ordinary connections, which every user
// may open (tcp(7), IP_RECVERR; Linux 5.9). A flow can have one outstanding. A connection
// that succeeds is reset immediately.
type connecting struct {
	codec
	config  Config
	open    []attempt
	stamped bool
	foreign int64
	buffer  [2048]byte
	control [512]byte
}

type attempt struct {
	fd     int
	flow   int
	number uint16
}

func openConnecting(c Config, base codec) (Prober, error) {
	p := &connecting{codec: base, config: c}
	// The kernel chooses the port of each flow. The sockets that held the ports are
	// closed again, because two sockets can share a port only if they may listen on it.
	var held sockets
	held.codec = base
	defer held.Close()
	for range c.Flows {
		if err := held.reserve(c); err != nil {
			return nil, err
		}
	}
	p.ports = held.ports
	return p, nil
}

func (p *connecting) Send(flow, hop int, number uint16, _ int) error {
	fd, err := p.socket(flow, hop)
	if err != nil {
		return err
	}
	err = unix.Connect(fd, Sockaddr(p.to, int(p.port)))
	if err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.ECONNREFUSED) {
		_ = unix.Close(fd)
		return err
	}
	p.open = append(p.open, attempt{fd, flow, number})
	return nil
}

func (p *connecting) socket(flow, hop int) (fd int, err error) {
	c := p.config
	c.Options.Bind = ""
	if fd, err = open(c, unix.SOCK_STREAM, 0); err != nil {
		return -1, err
	}
	local := p.from
	if p.v6 && local.IsLinkLocalUnicast() {
		local = netip.IPv6Unspecified()
	}
	reset := unix.Linger{Onoff: 1}
	err = errors.Join(
		ReportErrors(fd, p.v6), setHop(fd, p.v6, hop),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &reset),
		unix.Bind(fd, Sockaddr(local, int(p.ports[flow]))),
	)
	p.stamped = sock.Stamp(fd, true) == nil
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (p *connecting) Receive(wait time.Duration, take func(Answer)) error {
	polled := make([]unix.PollFd, len(p.open))
	for i, a := range p.open {
		polled[i] = unix.PollFd{Fd: int32(a.fd), Events: unix.POLLOUT}
	}
	n, err := poll(polled, wait)
	if err != nil || n == 0 {
		return err
	}
	now := time.Now()
	var answers []Answer
	waiting := p.open[:0]
	for i, a := range p.open {
		answer, settled := Answer{}, false
		if polled[i].Revents != 0 {
			answer, settled = p.settle(a, now)
		}
		if !settled {
			waiting = append(waiting, a)
			continue
		}
		_ = unix.Close(a.fd)
		if answer.Kind != Nothing {
			answers = append(answers, answer)
		}
	}
	p.open = waiting
	for _, a := range answers {
		take(a)
	}
	return nil
}

// settle returns how an attempt ended. settled is false if it has not ended.
func (p *connecting) settle(a attempt, now time.Time) (out Answer, settled bool) {
	out = Answer{Flow: a.flow, Number: a.number, At: now}
	n, controlled, _, about, err := unix.Recvmsg(a.fd, p.buffer[:], p.control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err == nil {
		e, ok := extendedIn(p.control[:controlled], p.v6)
		if !ok || about != nil && AddrOf(about) != p.to.WithZone("") {
			p.foreign++
			return Answer{}, false
		}
		out.At = arrival(p.control[:controlled])
		out.fill(e, p.buffer[:n], &p.codec)
		return out, true
	}
	code, err := unix.GetsockoptInt(a.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && (code == 0 || syscall.Errno(code) == unix.ECONNREFUSED) {
		out.Kind, out.From = Arrived, p.to.WithZone("")
	}
	return out, true
}

func (p *connecting) Forget(number uint16) {
	for i, a := range p.open {
		if a.number == number {
			_ = unix.Close(a.fd)
			p.open = append(p.open[:i], p.open[i+1:]...)
			return
		}
	}
}

func (p *connecting) Serial() bool      { return true }
func (p *connecting) Port(flow int) int { return int(p.ports[flow]) }
func (p *connecting) Local() netip.Addr { return p.from }
func (p *connecting) Foreign() int64    { return p.foreign }

// Timing implements Prober.
func (p *connecting) Timing() measure.Timing { return timing("tcp connect", p.stamped) }

func (p *connecting) Close() {
	for _, a := range p.open {
		_ = unix.Close(a.fd)
	}
	p.open = nil
}
