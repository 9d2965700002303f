package tcp

import (
	"io"
	"net"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
	"soku/test/tier"
)

// keepOpenBoth runs one flow over connections that stay open. When the first of its ends
// returns, the flow is ended at the other.
func (w way) keepOpenBoth(t *testing.T, from, to measure.Options) (s, r outcome) {
	t.Helper()
	a, b := loopback.TCP(t, from.Streams)
	over := make(chan struct{})
	m := engine.FlowPolicy{KeepOpen: true, Over: over}
	from.TX, to.TX, to.RX = w.tx, w.tx, w.rx
	returned := make(chan struct{}, 2)
	go func() {
		r.end, r.err = receive(t.Context(), b, to, engine.Flow{Direction: measure.Forward, Policy: m}, w.limits())
		returned <- struct{}{}
	}()
	go func() {
		s.end, s.err = send(t.Context(), a, from, engine.Flow{Direction: measure.Forward, Policy: m}, w.limits())
		returned <- struct{}{}
	}()
	<-returned
	close(over)
	<-returned
	if w.tx == "zerocopy" {
		return s, r // removed from the runtime's poller for good: nothing can wait on them
	}
	for i := range a {
		go io.Copy(io.Discard, b[i]) // read what a sender that ended late has queued
		_ = a[i].SetDeadline(time.Now().Add(5 * time.Second))
		_ = b[i].SetDeadline(time.Now().Add(5 * time.Second))
		for _, c := range []*net.TCPConn{a[i], b[i]} {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Errorf("stream %d was ended: %v", i, err)
			}
		}
		if _, err := a[i].Read(make([]byte, 1)); err != nil {
			t.Errorf("stream %d was ended: %v", i, err)
		}
	}
	return s, r
}

// endless are the options of a flow that the protocol ends.
func endless(n int) measure.Options {
	o := options(0, n)
	o.Duration = 0
	return o
}

func TestAKeepOpenFlowEndsWithItsSenderAndBothCountTheSame(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		s, r := w.keepOpenBoth(t, options(300*time.Millisecond, 3), endless(3))
		if s.err != nil || r.err != nil {
			t.Fatal(s.err, r.err)
		}
		if got, want := receivedBytes(r.end), sentBytes(s.end); got != want || want == 0 {
			t.Errorf("received %d bytes of %d", got, want)
		}
	})
}

func TestAKeepOpenFlowEndsWithItsReceiver(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		s, r := w.keepOpenBoth(t, endless(2), options(300*time.Millisecond, 2))
		if s.err != nil || r.err != nil {
			t.Fatal(s.err, r.err)
		}
		d := time.Duration(r.end.DurationNs)
		if receivedBytes(r.end) == 0 || d < 250*time.Millisecond || d > 2*time.Second {
			t.Errorf("received %d bytes in %v", receivedBytes(r.end), d)
		}
	})
}

func TestAKeepOpenFlowEndsWhenAllBytesArrived(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		to := endless(1)
		to.Bytes = 5 << 20
		_, r := w.keepOpenBoth(t, endless(1), to)
		if n := receivedBytes(r.end); r.err != nil || n < 5<<20 || n > 64<<20 {
			t.Errorf("received %d bytes, want 5 MiB and little more: %v", n, r.err)
		}
	})
}

func TestAKeepOpenFlowWithoutAByteEndsWithoutAnError(t *testing.T) {
	_, b := loopback.TCP(t, 2)
	over := make(chan struct{})
	close(over)
	end, err := Receive(t.Context(), b, endless(2), engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Over: over}})
	if err != nil || receivedBytes(end) != 0 {
		t.Errorf("%d bytes, %v", receivedBytes(end), err)
	}
}

func TestTheCloseOfAKeepOpenSenderIsNotAnError(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		a, b := loopback.TCP(t, 1)
		if _, err := a[0].Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		_ = a[0].Close()
		o := options(time.Minute, 1)
		o.RX = w.rx
		end, err := receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true}}, w.limits())
		if err != nil || receivedBytes(end) != 1000 {
			t.Errorf("%d bytes, %v", receivedBytes(end), err)
		}
	})
}

func TestAKeepOpenReceiverMayEndALittleEarly(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		limits := w.limits()
		limits.spare = 0 // the peer does not acknowledge what is queued
		for after, failure := range map[time.Duration]bool{20 * time.Millisecond: true, 280 * time.Millisecond: false} {
			a, b := loopback.TCP(t, 1)
			go func() {
				if _, err := b[0].Read(make([]byte, 1)); err != nil { // the flow begins with its first byte
					t.Errorf("no byte came: %v", err)
				}
				_ = b[0].SetReadDeadline(time.Now().Add(after))
				_, _ = io.Copy(io.Discard, b[0])
				b[0].Close()
			}()
			o := options(400*time.Millisecond, 1)
			o.TX = w.tx
			end, err := send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true}}, limits)
			if (err != nil) != failure || sentBytes(end) == 0 {
				t.Errorf("closed after %v of 400ms: %d bytes, %v", after, sentBytes(end), err)
			}
		}
	})
}
