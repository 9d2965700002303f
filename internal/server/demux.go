package server

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// maxWaiting is how many bytes of datagrams wait in a peer's queue; more are
// dropped, as a full socket buffer drops them.
const maxWaiting = 1 << 20

// demux shares one UDP socket among peers where the kernel does not. Readers of
// a peer get what came from its address; writers write to the shared socket.
type demux struct {
	socket *net.UDPConn

	mu    sync.RWMutex
	peers map[netip.AddrPort]*peerConn
}

func newDemux(socket *net.UDPConn) *demux {
	return &demux{socket: socket, peers: map[netip.AddrPort]*peerConn{}}
}

// add makes the connection of a peer, in place of an older one.
func (d *demux) add(peer, local netip.AddrPort) *peerConn {
	p := &peerConn{demux: d, peer: peer, local: local, some: make(chan struct{}, 1), closed: newLatch(), deadline: newDeadline()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peers[peer] = p
	return p
}

// deliver copies b into the queue of the peer at from, and returns false where
// there is none.
func (d *demux) deliver(from netip.AddrPort, b []byte) bool {
	d.mu.RLock()
	p := d.peers[from]
	d.mu.RUnlock()
	if p != nil {
		p.put(b)
	}
	return p != nil
}

// peerConn is a net.Conn over the shared socket. A read returns one datagram.
type peerConn struct {
	demux       *demux
	peer, local netip.AddrPort
	some        chan struct{} // has one element when the queue may hold something
	closed      *latch
	deadline    *deadline

	mu      sync.Mutex
	queue   [][]byte
	waiting int // bytes in queue
}

func (p *peerConn) put(b []byte) {
	p.mu.Lock()
	if p.waiting+len(b) > maxWaiting {
		p.mu.Unlock()
		return
	}
	p.queue = append(p.queue, append([]byte(nil), b...))
	p.waiting += len(b)
	p.mu.Unlock()
	p.signal()
}

func (p *peerConn) signal() {
	select {
	case p.some <- struct{}{}:
	default:
	}
}

func (p *peerConn) take() ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil, false
	}
	b := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.waiting -= len(b)
	if len(p.queue) > 0 {
		p.signal() // for another reader
	}
	return b, true
}

// Read implements net.Conn. What does not fit b is lost, as with a socket.
func (p *peerConn) Read(b []byte) (int, error) {
	for {
		expired := p.deadline.expired()
		switch {
		case p.closed.fired():
			return 0, p.failed("read", net.ErrClosed)
		case IsClosed(expired):
			return 0, p.failed("read", os.ErrDeadlineExceeded)
		}
		if d, ok := p.take(); ok {
			return copy(b, d), nil
		}
		select {
		case <-p.some:
		case <-expired:
		case <-p.closed.ch:
		}
	}
}

// Write implements net.Conn. It does not wait longer than the shared socket.
func (p *peerConn) Write(b []byte) (int, error) {
	if p.closed.fired() {
		return 0, p.failed("write", net.ErrClosed)
	}
	return p.demux.socket.WriteToUDPAddrPort(b, p.peer)
}

// Close implements net.Conn; the shared socket stays open.
func (p *peerConn) Close() error {
	if !p.closed.fire() {
		return p.failed("close", net.ErrClosed)
	}
	p.deadline.set(time.Time{})
	d := p.demux
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers[p.peer] == p {
		delete(d.peers, p.peer)
	}
	return nil
}

func (p *peerConn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: p.LocalAddr(), Addr: p.RemoteAddr(), Err: err}
}

// LocalAddr implements net.Conn.
func (p *peerConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(p.local) }

// RemoteAddr implements net.Conn.
func (p *peerConn) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(p.peer) }

// SetDeadline implements net.Conn.
func (p *peerConn) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// SetReadDeadline implements net.Conn.
func (p *peerConn) SetReadDeadline(t time.Time) error {
	if p.closed.fired() {
		return p.failed("set", net.ErrClosed)
	}
	p.deadline.set(t)
	return nil
}

// SetWriteDeadline implements net.Conn; writes to the shared socket are not
// held up by one peer.
func (p *peerConn) SetWriteDeadline(time.Time) error { return nil }

// deadline is a channel that is closed at a time that can be moved.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	ch    chan struct{}
}

func newDeadline() *deadline { return &deadline{ch: make(chan struct{})} }

func (d *deadline) expired() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ch
}

// set moves the deadline to t, or to never for the zero time. A reader that
// waits already notices.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() && !IsClosed(d.ch) {
		close(d.ch) // the old timer waits for the lock and will find itself replaced
	}
	d.timer = nil
	if IsClosed(d.ch) {
		d.ch = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	ch := d.ch
	wait := time.Until(t)
	if wait <= 0 {
		close(ch)
		return
	}
	d.timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if ch == d.ch && !IsClosed(ch) {
			close(ch)
		}
	})
}

// IsClosed reports whether a channel that nobody sends on is closed.
func IsClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
