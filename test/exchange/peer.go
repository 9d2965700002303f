package exchange

import (
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// waiting is the number of unread datagrams kept per peer.
const waiting = 1024

// sharedPeer is one peer of a shared socket as a connection.
type sharedPeer struct {
	socket *shared
	to     net.Addr
	some   chan struct{} // has an element when there may be a new datagram
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	queue [][]byte
	until time.Time
}

func newSharedPeer(u *shared, to net.Addr) *sharedPeer {
	return &sharedPeer{socket: u, to: to, some: make(chan struct{}, 1), closed: make(chan struct{}), until: time.Now().Add(defaultTimeout)}
}

func (c *sharedPeer) put(b []byte) {
	c.mu.Lock()
	if len(c.queue) < waiting {
		c.queue = append(c.queue, slices.Clone(b))
	}
	c.mu.Unlock()
	c.wake()
}

func (c *sharedPeer) wake() {
	select {
	case c.some <- struct{}{}:
	default:
	}
}

// Read returns one datagram.
func (c *sharedPeer) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		wait := time.Until(c.until)
		if len(c.queue) > 0 {
			n := copy(b, c.queue[0])
			c.queue = c.queue[1:]
			c.mu.Unlock()
			return n, nil
		}
		c.mu.Unlock()
		if wait <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		select {
		case <-c.some:
		case <-c.closed:
			return 0, net.ErrClosed
		case <-time.After(wait):
		}
	}
}

// Write sends one datagram.
func (c *sharedPeer) Write(b []byte) (int, error) { return c.socket.WriteTo(b, c.to) }

// Close implements net.Conn; the socket stays open.
func (c *sharedPeer) Close() error { c.once.Do(func() { close(c.closed) }); return nil }

// LocalAddr implements net.Conn.
func (c *sharedPeer) LocalAddr() net.Addr { return c.socket.LocalAddr() }

// RemoteAddr implements net.Conn.
func (c *sharedPeer) RemoteAddr() net.Addr { return c.to }

// SetDeadline implements net.Conn.
func (c *sharedPeer) SetDeadline(t time.Time) error {
	c.mu.Lock()
	c.until = t
	c.mu.Unlock()
	c.wake()
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *sharedPeer) SetReadDeadline(t time.Time) error { return c.SetDeadline(t) }

// SetWriteDeadline implements net.Conn; writing does not block.
func (c *sharedPeer) SetWriteDeadline(time.Time) error { return nil }
