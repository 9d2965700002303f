package iperf3

import (
	"net"
	"testing"

	"soku/internal/measure"
	"soku/internal/wire"
)

func TestTheServerHearsOfTheEndWhenTheFlowsEnd(t *testing.T) {
	for _, atOnce := range []bool{true, false} {
		heard, finished := make(chan State, 1), make(chan struct{})
		addr := playing(t, func(c net.Conn) {
			parameters(c)
			sendStates(c, CreateStreams, TestStart, TestRunning)
			state, _ := ReadState(c)
			heard <- state
			<-finished
		})
		s, err := Open(t.Context(), addr, asked(func(r *wire.Request) { r.IPerf3.EndAtOnce = atOnce }), wire.Hooks{})
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
		if p := s.FlowPolicy(); p.EndAtOnce != atOnce || (p.Start != nil) != atOnce {
			t.Errorf("at once %v: the policy is %+v", atOnce, p)
		}
		s.(wire.Ender).Ended()
		if atOnce {
			if state := <-heard; state != TestEnd {
				t.Errorf("the server got %v", state)
			}
		} else {
			if len(heard) > 0 {
				t.Error("the server heard of the end before the path was empty")
			}
			go func() { _, _ = s.Finish(t.Context(), &measure.End{}) }()
			<-heard
		}
		close(finished)
		_ = s.Close()
	}
}
