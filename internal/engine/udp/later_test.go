package udp

import (
	"context"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
)

// A sender whose caller takes what is left returns when its counts are complete. The receiver gets
// the number of datagrams from what the caller runs meanwhile.
func TestTheNumberOfDatagramsIsReportedAfterTheCounts(t *testing.T) {
	from, to := pairs(t, 2)
	o := options(200*time.Millisecond, 2, 8_000_000)
	received := make(chan outcome, 1)
	go func() {
		end, err := Receive(t.Context(), to, o, engine.Flow{})
		received <- outcome{end, err}
	}()
	var rest func(context.Context)
	sent, err := Send(t.Context(), from, o, engine.Flow{Later: func(work func(context.Context)) { rest = work }})
	if err != nil || rest == nil {
		t.Fatalf("%v, work left: %v", err, rest != nil)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); rest(ctx) }()
	r := <-received
	stop()
	<-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	for i := range r.end.Streams {
		if got, want := r.end.Streams[i].Packets, sent.Streams[i].Packets; got.Sent != want.Sent {
			t.Errorf("stream %d: the receiver knows of %d datagrams, %d were sent", i, got.Sent, want.Sent)
		}
	}
}

// Nothing but data is on the wire until the work that is left runs, and then the number of datagrams is.
func TestTheNumberOfDatagramsIsSentByTheWorkThatIsLeft(t *testing.T) {
	from, to := pairs(t, 1)
	o := options(0, 1, 8_000_000)
	o.Bytes = 5 * o.Size
	ctx, stop := context.WithCancel(t.Context())
	var rest func(context.Context)
	if _, err := Send(ctx, from, o, engine.Flow{Later: func(work func(context.Context)) { rest = work }}); err != nil || rest == nil {
		t.Fatalf("%v, work left: %v", err, rest != nil)
	}
	next := func() header {
		t.Helper()
		b := make([]byte, o.Size)
		_ = to[0].SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := to[0].Read(b)
		h, ok := parseHeader(b[:n])
		if err != nil || !ok {
			t.Fatalf("%d bytes: %v", n, err)
		}
		return h
	}
	for range 5 {
		if next().fin {
			t.Fatal("the number is sent with the data")
		}
	}
	_ = to[0].SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := to[0].Read(make([]byte, o.Size)); err == nil {
		t.Errorf("%d bytes more are sent before the work that is left", n)
	}
	done := make(chan struct{})
	go func() { defer close(done); rest(ctx) }()
	for range 2 { // one may be lost
		if h := next(); !h.fin || h.seq != 5 {
			t.Errorf("the first datagram of the work is %+v", h)
		}
	}
	stop()
	<-done
}

// A flow that failed has no counts to report.
func TestAFlowThatFailedLeavesNothing(t *testing.T) {
	from, _ := pairs(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Send(ctx, from, options(time.Second, 1, measure.Rate(1_000_000)), engine.Flow{Later: func(func(context.Context)) { t.Error("work is left") }})
	if err == nil {
		t.Error("it did not fail")
	}
}
