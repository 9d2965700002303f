package sock_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/sock"
)

func TestAFlowThatHasEndedGetsNoLaterDeadline(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(*sock.Group){
		"of all connections": func(g *sock.Group) { g.Deadline(sock.Now().Add(time.Hour)) },
		"none":               func(g *sock.Group) { g.Deadline(time.Time{}) },
		"of one connection":  func(g *sock.Group) { g.DeadlineOf(0, sock.Now().Add(time.Hour)) },
	} {
		c, _ := accepted(t)
		g := sock.NewGroup([]*net.TCPConn{c})
		over := make(chan struct{})
		close(over)
		e := g.Watch(over, 0)
		<-e.Halted()
		later(g)
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		e.Stop()
	}
}
