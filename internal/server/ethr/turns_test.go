package ethr

import (
	"net"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/ethr"
	"soku/test/servertest"
	"soku/test/tier"
)

func TestAnExclusiveServerServesOneEthrTestAtATime(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	leave := r.Occupy() // another client measures
	c := request(t, at, syn(nil))
	r.Waiting(1)
	leave()
	if err := acknowledged(t, c); err != nil {
		t.Error(err)
	}
	c.Close()
	r.ended("tcp", "connections")
	r.Idle()
}

func TestAClientOfEthrThatGoesWhileItWaitsLeavesTheQueue(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	leave := r.Occupy()
	defer leave()
	c := request(t, at, syn(nil))
	r.Waiting(1)
	c.Close()
	r.Waiting(0)
}

func TestATurnEndsWithItsTimeHoweverItsClientReconnects(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	const limit = 300 * time.Millisecond
	r, at := serve(t, server.Config{Exclusive: true, MaxDuration: measure.Duration(limit)}, Hooks{})
	stop := make(chan struct{})
	reconnected := make(chan struct{})
	go func() { // two connections at any time
		defer close(reconnected)
		for last := net.Conn(nil); ; time.Sleep(20 * time.Millisecond) {
			select {
			case <-stop:
				return
			default:
			}
			c, err := net.Dial("tcp", at.String())
			if err != nil {
				return
			}
			_, _ = c.Write(wire.Append(nil, syn(nil)))
			if last != nil {
				last.Close()
			}
			last = c
		}
	}()
	servertest.Eventually(t, servertest.Prompt, "no turn", func() bool { return len(r.Queue().Running) == 1 })
	began := time.Now()
	leave := r.OccupyFor(measure.Duration(limit)) // waits for the turn
	if most := server.LongestServed(measure.Duration(limit)) + servertest.Prompt; time.Since(began) > most {
		t.Errorf("another client waited %v", time.Since(began))
	}
	close(stop)
	<-reconnected
	leave()
	r.ended("tcp", "connections")
	r.Idle()
}

func TestATestIsServedForItsWholeTimeAfterItsSynchronisedStart(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	const limit = 300 * time.Millisecond
	r, at := serve(t, server.Config{MaxDuration: measure.Duration(limit)}, Hooks{})
	r.handler.mu.Lock()
	r.handler.second = time.Now().Add(-50 * time.Millisecond) // the next one is far away
	r.handler.mu.Unlock()
	c, err := ask(t, at, syn(func(m *wire.Message) { m.Synced = true }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(wire.Append(nil, wire.Message{Kind: wire.SyncStart, Synced: true})); err != nil {
		t.Fatal(err)
	}
	ready, err := wire.Read(c)
	if err != nil || ready.Kind != wire.SyncReady {
		t.Fatalf("%+v, %v", ready, err)
	}
	begins := time.Now().Add(ready.Delay)
	if _, err := c.Write(wire.Append(nil, wire.Message{Kind: wire.SyncGo, Synced: true})); err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(begins.Add(server.LongestServed(measure.Duration(limit)) + servertest.Prompt))
	for err = nil; err == nil; time.Sleep(10 * time.Millisecond) {
		_, err = c.Write([]byte("payload"))
	}
	const hurried = 200 * time.Millisecond // the answer may have been on its way for a while
	if served := time.Since(begins); sock.TimedOut(err) || served < server.LongestServed(measure.Duration(limit))-hurried {
		t.Errorf("it was served for %v from its start: %v", served, err)
	}
}

func TestASynchronisedStartDelaysATestByASecondAtMost(t *testing.T) {
	granted := time.Now()
	for synchronous, want := range map[time.Time]time.Duration{
		{}:                                  0, // none was asked for
		granted.Add(-time.Second):           0, // that of the test before
		granted.Add(400 * time.Millisecond): 400 * time.Millisecond,
		granted.Add(time.Hour):              longestStart, // asked for again and again
	} {
		p := &place{client: &client{handler: &handler{}, synchronous: synchronous}}
		if got := p.start(granted).Sub(granted); got != want {
			t.Errorf("a start %v after the turn counts as %v, not %v", synchronous.Sub(granted), got, want)
		}
	}
}

func TestTestsThatFollowEachOtherAtOnceHaveTheirWholeTimes(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	const limit, starts = 50 * time.Millisecond, 5 * time.Millisecond
	r, at := serve(t, server.Config{MaxDuration: measure.Duration(limit)}, Hooks{})
	for range 2 + server.LongestServed(measure.Duration(limit))/limit { // more together than one may have
		c, err := ask(t, at, syn(nil))
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			_, _ = c.Write([]byte("payload"))
		}
		c.Close()
		// The next client needs some time to start. A receiver that waits for data once more is later.
		for end := time.Now().Add(starts); r.conns() > 0 && time.Now().Before(end); time.Sleep(starts / 10) {
		}
	}
	r.ended("tcp", "connections")
	if strings.Contains(r.Logs(), "test stopped") {
		t.Errorf("one was stopped: %s", r.Logs())
	}
}

func TestTheNextTestOfAnAddressWaitsBehindTheOthers(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{Exclusive: true}, Hooks{})
	c, err := ask(t, at, syn(nil))
	if err != nil {
		t.Fatal(err)
	}
	other := make(chan func(), 1)
	go func() { other <- r.Occupy() }()
	r.Waiting(1)
	c.Close()
	servertest.Eventually(t, servertest.Prompt, "the connection is served", func() bool { return r.conns() == 0 })
	next := request(t, at, syn(nil))
	leave := <-other
	r.Waiting(1)
	leave()
	if err := acknowledged(t, next); err != nil {
		t.Error(err)
	}
}
