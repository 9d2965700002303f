package iperf3

import (
	"net"
	"testing"

	"soku/internal/measure"
	"soku/internal/wire"
)

func TestTheServerHearsOfTheEndWhenTheFlowsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		request         func(*wire.Request)
		atOnce, started bool
	}{
		"a time as iperf3's client":    {func(r *wire.Request) { r.IPerf3.EndAtOnce = true }, true, true},
		"an amount as iperf3's client": {func(r *wire.Request) { r.IPerf3.EndAtOnce, r.Options.Bytes = true, 1<<20 }, false, true},
		"blocks as iperf3's client":    {func(r *wire.Request) { r.IPerf3.EndAtOnce, r.IPerf3.Blocks = true, 10 }, false, true},
		"a time":                       {func(*wire.Request) {}, false, false},
	} {
		heard, finished := make(chan State, 1), make(chan struct{})
		addr := playing(t, func(c net.Conn) {
			parameters(c)
			sendStates(c, CreateStreams, TestStart, TestRunning)
			state, _ := ReadState(c)
			heard <- state
			<-finished
		})
		s, err := Open(t.Context(), addr, asked(c.request), wire.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.TCP(t.Context())
		if err == nil {
			err = s.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if p := s.FlowPolicy(); p.EndAtOnce != c.atOnce || (p.Start != nil) != c.started {
			t.Errorf("%s: the policy is %+v", name, p)
		}
		s.(wire.Ender).Ended()
		if c.atOnce {
			if state := <-heard; state != TestEnd {
				t.Errorf("%s: the server got %v", name, state)
			}
		} else {
			if len(heard) > 0 {
				t.Errorf("%s: the server heard of the end before the path was empty", name)
			}
			go func() { _, _ = s.Finish(t.Context(), &measure.End{}) }()
			<-heard
		}
		close(finished)
		_ = s.Close()
	}
}
