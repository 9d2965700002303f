package tcp

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/loopback"
	"soku/test/tier"
)

// soon is how long after its cause something must have happened that takes
// 0.1 s on an idle host.
const soon = time.Second

func TestTheContextEndsEveryPathAtOnce(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		a, b := loopback.TCP(t, 3)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		var at time.Time
		timer := time.AfterFunc(150*time.Millisecond, func() { at = time.Now(); cancel(cause) })
		defer timer.Stop()
		s, r := w.both(ctx, a, b, options(time.Minute, 3), measure.Forward)
		if took := time.Since(at); took > soon {
			t.Errorf("both ends took %v to stop", took)
		}
		if !errors.Is(s.err, cause) || !errors.Is(r.err, cause) {
			t.Errorf("errors %v and %v, want the context's cause", s.err, r.err)
		}
		if sentBytes(s.end) == 0 || receivedBytes(r.end) == 0 {
			t.Error("the partial counts are empty")
		}
	})
}

// A loop whose streams have all ended has nothing to wait for, whatever it waited for before:
// a quiet one waits for a second.
func TestAReceiverEndsWithItsLastStream(t *testing.T) {
	tier.SpendsSeconds(t)
	const quiet = 400 * time.Millisecond
	forEachWay(t, func(t *testing.T, w way) {
		t.Parallel()
		least := time.Duration(math.MaxInt64) // of some attempts: a busy host delays any of them
		for attempt := 0; attempt < 5 && least > quiet/2; attempt++ {
			a, b := loopback.TCP(t, 2)
			o := endless(2)
			o.RX = w.rx
			ended := make(chan error, 1)
			go func() {
				_, err := receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, NoPeerReport: true, Over: make(chan struct{})}}, w.limits())
				ended <- err
			}()
			for _, c := range a {
				if _, err := c.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(quiet)
			for _, c := range a {
				_ = c.Close()
			}
			began := time.Now()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(began))
		}
		if least > quiet/2 {
			t.Errorf("it ended %v after its streams", least)
		}
	})
}

func TestTheContextEndsBothEndsAtOnce(t *testing.T) {
	for _, rate := range []measure.Rate{0, 1000, 80_000_000} {
		a, b := loopback.TCP(t, 3)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		var lines, at atomic.Int64
		stop := func(measure.Progress) {
			if lines.Add(1) == 1 {
				at.Store(time.Now().UnixNano())
				cancel(cause)
			}
		}
		o := options(time.Minute, 3)
		o.Rate, o.Interval = rate, measure.Duration(100*time.Millisecond)
		s, r := both(ctx, a, b, o, measure.Forward, stop, stop)
		if took := time.Since(time.Unix(0, at.Load())); took > soon {
			t.Errorf("rate %v: both ends took %v to stop", rate, took)
		}
		if !errors.Is(s.err, cause) || !errors.Is(r.err, cause) {
			t.Errorf("errors %v and %v, want the context's cause", s.err, r.err)
		}
		if rate != 1000 && (sentBytes(s.end) == 0 || receivedBytes(r.end) == 0) {
			t.Error("the partial counts are empty")
		}
	}
}

func TestAContextThatEndsBeforeTheFirstByteEndsTheFlow(t *testing.T) {
	_, b := loopback.TCP(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Receive(ctx, b, options(time.Minute, 2), forward); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A sender that vanishes is noticed by a reset, or by an end of its streams that comes too
// early.
func TestASenderThatVanishesIsAnErrorWithTheCountSoFar(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, vanish := range map[string]func(*net.TCPConn){
		"reset": func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
		"end":   func(c *net.TCPConn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range []way{{"auto", "auto", true}, {"auto", "auto", false}, {"auto", "read", false}} {
				a, b := loopback.TCP(t, 2)
				for _, c := range a {
					if _, err := c.Write(make([]byte, 1000)); err != nil {
						t.Fatal(err)
					}
				}
				var once atomic.Bool
				o := options(time.Minute, 2)
				o.RX, o.Interval = w.rx, measure.Duration(100*time.Millisecond)
				began := time.Now()
				end, err := receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Observe: func(measure.Progress) {
					if !once.Swap(true) {
						vanish(a[1])
					}
				}}, w.limits())
				if measure.KindOf(err) != measure.KindBroken || time.Since(began) > 10*time.Second {
					t.Errorf("%+v: error %v after %v", w, err, time.Since(began))
				}
				if receivedBytes(end) != 2000 {
					t.Errorf("%+v: counted %d bytes, want the 2000 that came", w, receivedBytes(end))
				}
			}
		})
	}
}

func TestAReceiverThatVanishesIsAnErrorWithTheCountSoFar(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		for _, bytes := range []measure.Size{0, 1 << 40} {
			a, b := loopback.TCP(t, 2)
			go func() { _, _ = io.Copy(io.Discard, b[0]) }()
			var once atomic.Bool
			o := options(time.Minute, 2)
			o.TX, o.Bytes, o.Interval = w.tx, bytes, measure.Duration(100*time.Millisecond)
			end, err := send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Observe: func(measure.Progress) {
				if !once.Swap(true) {
					b[0].Close()
				}
			}}, w.limits())
			if measure.KindOf(err) != measure.KindBroken {
				t.Errorf("error %v, want one of kind broken", err)
			}
			if sentBytes(end) == 0 {
				t.Error("the partial count is empty")
			}
		}
	})
}

func TestTooFewBytesAreAnError(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	if _, err := a[0].Write(make([]byte, 999)); err != nil {
		t.Fatal(err)
	}
	a[0].Close()
	o := options(0, 1)
	o.Bytes = 1000
	end, err := Receive(t.Context(), b, o, forward)
	if measure.KindOf(err) != measure.KindBroken || receivedBytes(end) != 999 {
		t.Errorf("error %v with %d bytes", err, receivedBytes(end))
	}
}

func TestAStallIsAnErrorIfBytesEndTheFlow(t *testing.T) {
	tier.SpendsSeconds(t)
	l := usual
	l.Idle, l.First = 200*time.Millisecond, 50*time.Millisecond
	o := options(0, 1)
	o.Bytes = 1 << 30

	a, _ := loopback.TCP(t, 1) // the peer does not read
	if _, err := send(t.Context(), a, o, forward, l); measure.KindOf(err) != measure.KindBroken {
		t.Errorf("sender: %v", err)
	}
	a, b := loopback.TCP(t, 1) // no more writes
	if _, err := a[0].Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := receive(t.Context(), b, o, forward, l); measure.KindOf(err) != measure.KindBroken {
		t.Errorf("receiver: %v", err)
	}
	_, b = loopback.TCP(t, 1) // no writes at all
	if _, err := receive(t.Context(), b, o, forward, l); measure.KindOf(err) != measure.KindBroken {
		t.Errorf("receiver of nothing: %v", err)
	}
	if _, known := sock.Unsent(a[0]); !known {
		return // a sender that cannot read what arrived waits for the peer
	}
	o.Bytes = 1 << 20 // fits the sender's queue, and the peer takes only part of it
	a, b = loopback.TCP(t, 1)
	if err := errors.Join(a[0].SetWriteBuffer(4<<20), b[0].SetReadBuffer(1<<14)); err != nil {
		t.Fatal(err)
	}
	if end, err := send(t.Context(), a, o, forward, l); measure.KindOf(err) != measure.KindBroken || sentBytes(end) >= 1<<20 {
		t.Errorf("sender of a tail that nobody takes: %v after %d bytes", err, sentBytes(end))
	}
	o.Bytes = 1000 // fits the queues, and the peer does not read it
	a, b = loopback.TCP(t, 1)
	if end, err := send(t.Context(), a, o, forward, l); err != nil || sentBytes(end) != 1000 {
		t.Errorf("what the peer's kernel has is delivered: %v", err)
	}
	b[0].Close()
}

// A sender whose peer's queues are full at the end gets a reset. What the peer did not
// read is not counted, and the reset is not an error.
func TestUnacknowledgedBytesAreNotCounted(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	l := usual
	l.spare = -time.Second // gives up before the queue drains, which never happens
	o := options(300*time.Millisecond, 1)
	end, err := send(t.Context(), a, o, forward, l)
	if err != nil {
		t.Fatal(err)
	}
	handed := int64(0)
	for _, s := range end.Samples {
		handed += s.SentBytes
	}
	took := int64(0)
	buf := make([]byte, 1<<20)
	for {
		n, err := b[0].Read(buf)
		took += int64(n)
		if err != nil {
			break
		}
	}
	if runtime.GOOS == "linux" && (sentBytes(end) >= handed || sentBytes(end) < took) {
		t.Errorf("handed over %d bytes, counted %d, the peer had %d", handed, sentBytes(end), took)
	}
}

// If a sender continues after the end of the flow, the receiver resets the connection
// after a bounded time.
func TestTheReceiverDrainsForABoundedTime(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := loopback.TCP(t, 2)
	o := options(200*time.Millisecond, 2)
	failed := make(chan error, 2)
	for _, c := range a {
		go func() {
			_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
			for {
				if _, err := c.Write(make([]byte, 1000)); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	began := time.Now()
	end, err := Receive(t.Context(), b, o, forward)
	if took := time.Since(began); err != nil || took > 700*time.Millisecond+soon {
		t.Errorf("error %v after %v", err, took)
	}
	if receivedBytes(end) == 0 || end.DurationNs < 6e8 {
		t.Errorf("%d bytes in %d ns", receivedBytes(end), end.DurationNs)
	}
	for range a {
		if err := <-failed; expired(err) {
			t.Error("a sender did not detect that the receiver is gone")
		}
	}
}

func TestAnOptionThatIsRefusedStopsBothEndsBeforeAByte(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(time.Second, 1)
	o.Congestion = "nosuchthing"
	if end, err := Send(t.Context(), a, o, forward); measure.KindOf(err) != measure.KindUsage || len(end.Streams) != 1 {
		t.Errorf("sender: %v", err)
	}
	if end, err := Receive(t.Context(), b, o, forward); measure.KindOf(err) != measure.KindUsage || receivedBytes(end) != 0 {
		t.Errorf("receiver: %v", err)
	}
}

func TestAResetAfterTheNominalEndIsNotAnError(t *testing.T) {
	for late, want := range map[time.Duration]bool{time.Second: true, -time.Minute: false} {
		clients, servers := loopback.TCP(t, 1)
		f, err := newFlow(clients, options(time.Second, 1), measure.Sender, forward, usual)
		if err != nil {
			t.Fatal(err)
		}
		// A delayed sender: its deadline has passed, and so has the peer's time to drain.
		s := &sender{flow: f, size: f.unit(), stop: time.Now().Add(-late)}
		sock.Abort(servers[0])
		for f.group.Err() == nil {
			if _, err := clients[0].Write(randomPayload().at(0, s.size)); err != nil {
				break
			}
		}
		s.write(0, randomPayload())
		if got := f.group.Err() == nil; got != want {
			t.Errorf("reset %v after the end: %v", late, f.group.Err())
		}
		f.rec.End()
	}
}

// A host may keep the receiver from its processor before its first read. What it then reads in
// no time is no sign of a sender that stopped.
func TestAReceiverThatStartsLateIsNotASenderThatStopped(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		for _, streams := range []int{1, 3} {
			a, b := loopback.TCP(t, streams)
			o := options(200*time.Millisecond, streams)
			o.Rate = 8_000_000 // fits the queues
			received := o
			received.RX = w.rx
			var s outcome
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				s.end, s.err = send(t.Context(), a, o, forward, w.limits())
			}()
			time.Sleep(150 * time.Millisecond)
			end, err := receive(t.Context(), b, received, forward, w.limits())
			<-sent
			lossless(t, s, outcome{end, err})
		}
	})
}
