package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"soku/internal/sock"
)

// defaultTimeout is how long a player waits if its context has no deadline.
const defaultTimeout = 10 * time.Second

// Player replays one end of an exchange for a test of the other.
type Player struct {
	Exchange *Exchange
	As       From // the end to replay
	// Open returns the connection of a step of kind Open: the client dials, the
	// server accepts.
	Open func(network string, port int) (net.Conn, error)
	// Expect reads the other end's bytes from c in place of step s, of kind Bytes, and
	// returns an error if they are wrong. nil: the same bytes.
	Expect func(c net.Conn, s Step) error
}

// played is a connection of a player.
type played struct {
	net.Conn
	datagrams bool
	size      int           // of the last datagram
	writing   chan struct{} // closed when bytes of a step More are written; nil: there are none
	reading   chan error    // gets how the connection ended, from discard; nil: discard does not run
}

// Play runs the steps in order and returns when all are done, or with the first error. The
// other end may send more or less bytes than a step More counts, and may close or reset a
// connection. Every connection is closed afterwards.
func (p *Player) Play(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	deadline, _ := ctx.Deadline()
	conns := map[int]*played{}
	var work sync.WaitGroup
	defer func() {
		cancel()
		for _, c := range conns {
			_ = c.Close()
		}
		work.Wait()
	}()
	for i, s := range p.Exchange.Steps {
		if s.Kind == Open {
			c, err := p.Open(s.Network, s.Port)
			if err != nil {
				return p.failed(i, err)
			}
			_ = c.SetDeadline(deadline)
			defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
			conns[s.Conn] = &played{Conn: c, datagrams: s.Network == "udp", size: 1024}
			continue
		}
		var err error
		if s.From == p.As {
			err = conns[s.Conn].do(s, &work)
		} else {
			err = p.see(conns[s.Conn], s, &work)
		}
		if err != nil {
			return p.failed(i, err)
		}
	}
	for _, c := range conns {
		if c.writing != nil {
			<-c.writing
		}
	}
	return nil
}

func (p *Player) failed(i int, err error) error {
	s := p.Exchange.Steps[i]
	return fmt.Errorf("step %d (%d %c %s %x): %w", i+1, s.Conn, s.From, s.Kind, s.Bytes[:min(len(s.Bytes), 16)], err)
}

// do runs a step of the replayed end.
func (c *played) do(s Step, work *sync.WaitGroup) error {
	if c.writing != nil {
		<-c.writing
	}
	switch s.Kind {
	case Bytes:
		c.size = max(1, len(s.Bytes))
		_, err := c.Write(s.Bytes)
		return err
	case More:
		c.writing = make(chan struct{})
		work.Go(func() { defer close(c.writing); c.fill(s.N) })
	case End:
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.CloseWrite() // it may be closed already
		}
	case Reset:
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		return c.Close()
	}
	return nil
}

// fill writes n bytes, or as many as the other end accepts.
func (c *played) fill(n int64) {
	b := make([]byte, 16<<10)
	if c.datagrams {
		b = b[:min(len(b), c.size)]
	}
	for n > 0 {
		wrote, err := c.Write(b[:min(n, int64(len(b)))])
		if err != nil {
			return
		}
		n -= int64(wrote)
	}
}

// see expects a step of the other end.
func (p *Player) see(c *played, s Step, work *sync.WaitGroup) error {
	switch {
	case s.Kind == Bytes && c.reading != nil:
		return nil // among the discarded bytes
	case s.Kind == Bytes && p.Expect != nil:
		return p.Expect(c.Conn, s)
	case s.Kind == Bytes:
		return Same(c.Conn, s)
	case s.Kind == More && c.reading == nil:
		c.discard(work)
	case s.Kind != More && !c.datagrams:
		// A close or a reset is accepted, a timeout is not.
		if c.reading == nil {
			c.discard(work)
		}
		if err := <-c.reading; sock.TimedOut(err) {
			return fmt.Errorf("the connection did not end: %w", err)
		}
	}
	return nil
}

// discard reads and discards until the connection ends.
func (c *played) discard(work *sync.WaitGroup) {
	c.reading = make(chan error, 2) // the ends of both directions
	work.Go(func() {
		_, err := io.Copy(io.Discard, c.Conn)
		c.reading <- err
		c.reading <- err
	})
}

// Same reads the bytes of s, which must be equal.
func Same(c net.Conn, s Step) error {
	got := make([]byte, len(s.Bytes))
	n, err := io.ReadFull(c, got)
	if !bytes.Equal(got[:n], s.Bytes[:n]) {
		return fmt.Errorf("got %x", got[:n])
	}
	return err
}
