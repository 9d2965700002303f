package iperf3

import (
	"net"
	"testing"
	"time"

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

// A test of a time that this end sends has lasted that time, however late its host noticed the
// end. Where bytes came, the time in which they came counts.
func TestABusyHostDoesNotLengthenATimeInWhichItSends(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		change        func(*wire.Request)
		noticed, want time.Duration
	}{
		"sends":           {func(*wire.Request) {}, 5 * time.Second, 3 * time.Second},
		"failed before":   {func(*wire.Request) {}, time.Second, time.Second},
		"receives":        {func(r *wire.Request) { r.Options.Direction = measure.Reverse }, 5 * time.Second, 5 * time.Second},
		"both":            {func(r *wire.Request) { r.Options.Direction = measure.Bidirectional }, 5 * time.Second, 5 * time.Second},
		"sends an amount": {func(r *wire.Request) { r.Options.Bytes = 1 << 20 }, 5 * time.Second, 5 * time.Second},
	} {
		r := asked(func(r *wire.Request) {
			r.IPerf3.EndAtOnce, r.Options.Omit, r.Options.Duration = true, measure.Duration(time.Second), measure.Duration(2*time.Second)
		}, c.change)
		p, err := ParametersFor(r)
		if err != nil {
			t.Fatal(err)
		}
		s := &session{request: r, asked: p, began: began}
		if got := s.endOf(began.Add(c.noticed)).Sub(began); got != c.want {
			t.Errorf("%s: it lasted %v, want %v", name, got, c.want)
		}
	}
}
