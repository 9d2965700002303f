package flows

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"soku/internal/engine"
	"soku/internal/measure"
)

// calls records calls of engines and moves nothing.
type calls struct {
	mu   sync.Mutex
	made []string
	fail error // of every call
}

// note records a call over connections, by their numbers.
func (c *calls) note(what string, numbers []int, f engine.Flow) (measure.FlowEnd, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, fmt.Sprint(what, " ", f.Direction, " over ", numbers))
	return measure.FlowEnd{Direction: f.Direction}, c.fail
}

// numbered returns n connections, and a function that returns the numbers of some of
// them.
func numbered[C comparable](n int, one func() C) (conns []C, numbers func([]C) []int) {
	for range n {
		conns = append(conns, one())
	}
	return conns, func(some []C) (found []int) {
		for _, c := range some {
			found = append(found, slices.Index(conns, c))
		}
		return found
	}
}

func TestEachDirectionRunsOverItsOwnConnectionsAtBothSides(t *testing.T) {
	c := &calls{}
	tcp, ofTCP := numbered(7, func() *net.TCPConn { return &net.TCPConn{} })
	udp, ofUDP := numbered(4, func() net.Conn { return &net.UDPConn{} })
	e := Engines{
		SendTCP: func(_ context.Context, conns []*net.TCPConn, _ measure.Options, f engine.Flow) (measure.FlowEnd, error) {
			return c.note("send TCP", ofTCP(conns), f)
		},
		ReceiveTCP: func(_ context.Context, conns []*net.TCPConn, _ measure.Options, f engine.Flow) (measure.FlowEnd, error) {
			return c.note("receive TCP", ofTCP(conns), f)
		},
		SendUDP: func(_ context.Context, conns []net.Conn, _ measure.Options, f engine.Flow) (measure.FlowEnd, error) {
			return c.note("send UDP", ofUDP(conns), f)
		},
		ReceiveUDP: func(_ context.Context, conns []net.Conn, _ measure.Options, f engine.Flow) (measure.FlowEnd, error) {
			return c.note("receive UDP", ofUDP(conns), f)
		},
	}
	tests := []struct {
		side  Side
		dir   measure.Direction
		conns Conns
		want  []string // in order
	}{
		{Client, measure.Forward, Conns{TCP: tcp}, []string{"send TCP forward over [0 1]"}},
		{Client, measure.Reverse, Conns{TCP: tcp}, []string{"receive TCP reverse over [0 1]"}},
		{Client, measure.Bidirectional, Conns{TCP: tcp}, []string{"receive TCP reverse over [2 3]", "send TCP forward over [0 1]"}},
		{Server, measure.Forward, Conns{TCP: tcp}, []string{"receive TCP forward over [0 1]"}},
		{Server, measure.Reverse, Conns{TCP: tcp}, []string{"send TCP reverse over [0 1]"}},
		{Server, measure.Bidirectional, Conns{TCP: tcp}, []string{"receive TCP forward over [0 1]", "send TCP reverse over [2 3]"}},
		{Client, measure.Bidirectional, Conns{UDP: udp}, []string{"receive UDP reverse over [2 3]", "send UDP forward over [0 1]"}},
		{Server, measure.Forward, Conns{UDP: udp}, []string{"receive UDP forward over [0 1]"}},
	}
	for _, test := range tests {
		c.made = nil
		ends, err := e.Run(t.Context(), test.side, test.conns, measure.Options{Streams: 2, Direction: test.dir}, engine.Flow{})
		if slices.Sort(c.made); err != nil || !slices.Equal(c.made, test.want) {
			t.Errorf("side %d, %s: %q, %v, want %q", test.side, test.dir, c.made, err, test.want)
		}
		var got []measure.Direction
		for _, end := range ends {
			got = append(got, end.Direction)
		}
		if !slices.Equal(got, test.dir.Flows()) {
			t.Errorf("side %d, %s: ends of %v", test.side, test.dir, got)
		}
	}
}

func TestAFailedFlowKeepsWhatTheOtherCounted(t *testing.T) {
	why := errors.New("the path went away")
	e := Engines{
		SendTCP: func(context.Context, []*net.TCPConn, measure.Options, engine.Flow) (measure.FlowEnd, error) {
			return measure.FlowEnd{}, why
		},
		ReceiveTCP: func(context.Context, []*net.TCPConn, measure.Options, engine.Flow) (measure.FlowEnd, error) {
			return measure.FlowEnd{DurationNs: 7}, nil
		},
	}
	o := measure.Options{Streams: 1, Direction: measure.Bidirectional}
	ends, err := e.Run(t.Context(), Client, Conns{TCP: make([]*net.TCPConn, 2)}, o, engine.Flow{})
	if !errors.Is(err, why) || len(ends) != 2 || ends[1].DurationNs != 7 {
		t.Errorf("%+v, %v", ends, err)
	}
}

func TestListHasTheConnectionsOfEitherKind(t *testing.T) {
	tcp, udp := []*net.TCPConn{{}, {}}, []net.Conn{&net.UDPConn{}}
	if got := (Conns{TCP: tcp}).List(); !slices.Equal(got, []net.Conn{tcp[0], tcp[1]}) {
		t.Errorf("of TCP: %v", got)
	}
	if got := (Conns{UDP: udp}).List(); !slices.Equal(got, udp) {
		t.Errorf("of UDP: %v", got)
	}
}
