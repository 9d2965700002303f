package exchange

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// Ports are the ports of a replayed server.
type Ports struct {
	tcp   map[int]net.Listener
	udp   map[int]*shared
	at    map[int]netip.AddrPort
	wait  time.Duration
	close sync.Once
	work  sync.WaitGroup
}

// Listen opens TCP and UDP for every port of x on address, at the recorded port plus
// shift, or at a free port if shift is 0.
func Listen(x *Exchange, address string, shift int) (*Ports, error) {
	p := &Ports{tcp: map[int]net.Listener{}, udp: map[int]*shared{}, at: map[int]netip.AddrPort{}, wait: defaultTimeout}
	for _, s := range x.Steps {
		if s.Kind != Open || p.tcp[s.Port] != nil {
			continue
		}
		if err := p.listen(s.Port, address, shift); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *Ports) listen(port int, address string, shift int) error {
	at := 0
	if shift != 0 {
		at = port + shift
	}
	for range 20 {
		var config net.ListenConfig
		l, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(address, strconv.Itoa(at)))
		if err != nil {
			return err
		}
		c, err := config.ListenPacket(context.Background(), "udp", l.Addr().String())
		if err != nil {
			_ = l.Close()
			continue // in use for UDP
		}
		u := &shared{PacketConn: c, next: make(chan *sharedPeer, 16), peers: map[string]*sharedPeer{}}
		p.tcp[port], p.udp[port], p.at[port] = l, u, l.Addr().(*net.TCPAddr).AddrPort()
		p.work.Go(u.read)
		return nil
	}
	return fmt.Errorf("no port of %s is free for TCP and UDP", address)
}

// At is the present address of a recorded port.
func (p *Ports) At(port int) netip.AddrPort { return p.at[port] }

// Accept returns the next connection, or the next UDP peer; it can be used as
// [Player.Open].
func (p *Ports) Accept(network string, port int) (net.Conn, error) {
	if network == "tcp" {
		l := p.tcp[port].(*net.TCPListener)
		_ = l.SetDeadline(time.Now().Add(p.wait))
		return l.Accept()
	}
	select {
	case c, ok := <-p.udp[port].next:
		if ok {
			return c, nil
		}
		return nil, net.ErrClosed
	case <-time.After(p.wait):
		return nil, fmt.Errorf("no datagram came to port %d", port)
	}
}

// Close closes all ports. Safe more than once.
func (p *Ports) Close() {
	p.close.Do(func() {
		for port, l := range p.tcp {
			_ = l.Close()
			_ = p.udp[port].Close()
		}
		p.work.Wait()
	})
}

// shared is a UDP socket that separates its peers by address.
type shared struct {
	net.PacketConn
	next  chan *sharedPeer
	peers map[string]*sharedPeer
}

func (u *shared) read() {
	defer close(u.next)
	b := make([]byte, 64<<10)
	for {
		n, from, err := u.ReadFrom(b)
		if err != nil {
			for _, c := range u.peers {
				_ = c.Close()
			}
			return
		}
		c := u.peers[from.String()]
		if c == nil {
			if len(u.peers) >= maxConns {
				continue
			}
			c = newSharedPeer(u, from)
			u.peers[from.String()] = c
			select {
			case u.next <- c:
			default: // no reader waits for it
			}
		}
		c.put(b[:n])
	}
}
