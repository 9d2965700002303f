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

// patience is how long a player waits where its context has no deadline.
const patience = 10 * time.Second

// Player is one end of an exchange, played for a test of the other.
type Player struct {
	Exchange *Exchange
	As       From // the end that is played
	// Open makes the connection of a step of kind Open: as the client it dials,
	// as the server it accepts.
	Open func(network string, port int) (net.Conn, error)
	// Expect reads from c what the other end does where the exchange has s, which is
	// of kind Bytes, and says what is wrong with it. Nil: the same bytes.
	Expect func(c net.Conn, s Step) error
}

// played is a connection of a player.
type played struct {
	net.Conn
	datagrams bool
	size      int           // of the last datagram
	writing   chan struct{} // closed when bytes that were not written down are written; nil: none are
	reading   chan error    // gets how the connection ended, from who throws away what comes; nil: nobody does
}

// Play takes the steps in their order and returns when all were taken, or with the
// first thing that is wrong. The other end may send more or less than what an
// exchange only counts, and may end a connection either way. Every connection is
// closed afterwards.
func (p *Player) Play(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// do takes a step of the end that is played.
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
			_ = t.CloseWrite() // it may be over already
		}
	case Reset:
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		return c.Close()
	}
	return nil
}

// fill writes n bytes, or what the other end takes of them.
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

// see takes a step of the other end.
func (p *Player) see(c *played, s Step, work *sync.WaitGroup) error {
	switch {
	case s.Kind == Bytes && c.reading != nil:
		return nil // among what is thrown away
	case s.Kind == Bytes && p.Expect != nil:
		return p.Expect(c.Conn, s)
	case s.Kind == Bytes:
		return Same(c.Conn, s)
	case s.Kind == More && c.reading == nil:
		c.discard(work)
	case s.Kind != More && !c.datagrams:
		// Either way of ending will do, but a timeout is none.
		if c.reading == nil {
			c.discard(work)
		}
		if err := <-c.reading; sock.TimedOut(err) {
			return fmt.Errorf("the connection did not end: %w", err)
		}
	}
	return nil
}

// discard throws away what comes until the connection ends.
func (c *played) discard(work *sync.WaitGroup) {
	c.reading = make(chan error, 2) // an end of one direction, and of the other
	work.Go(func() {
		_, err := io.Copy(io.Discard, c.Conn)
		c.reading <- err
		c.reading <- err
	})
}

// Same reads as many bytes as s has, which must be those of s.
func Same(c net.Conn, s Step) error {
	got := make([]byte, len(s.Bytes))
	n, err := io.ReadFull(c, got)
	if !bytes.Equal(got[:n], s.Bytes[:n]) {
		return fmt.Errorf("got %x", got[:n])
	}
	return err
}
