package meter

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
)

func TestMain(m *testing.M) {
	clock = time.Now // synctest replaces it
	goleak.VerifyTestMain(m)
}

// conns are n connections that only have addresses.
func conns(t *testing.T, n int) []net.Conn {
	t.Helper()
	var out []net.Conn
	for range n {
		a, b := net.Pipe()
		a.Close()
		b.Close()
		out = append(out, a)
	}
	return out
}

// steady publishes bytes each ms on every stream until run is over, in the
// bubble's invented time, and returns what Watch did.
func steady(t *testing.T, r *Recorder, streams, bytes int, run time.Duration, w Window) error {
	t.Helper()
	w.From = time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n Count
		time.Sleep(time.Millisecond / 2) // between the boundaries
		for ; time.Since(w.From) < run; time.Sleep(time.Millisecond) {
			n.Bytes += int64(bytes)
			n.Packets++
			n.Last = time.Now()
			for i := range streams {
				r.Cell(i).Publish(n)
			}
		}
	}()
	w.Done = done
	err := r.Watch(t.Context(), w)
	<-done
	r.End()
	return err
}

func TestSamplesCoverTheFlowWithoutGapsAndSumToItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []measure.Progress
		r := NewRecorder(Config{
			Role: measure.Receiver, Direction: measure.Reverse, Interval: 250 * time.Millisecond, Conns: conns(t, 3),
			Observe: func(p measure.Progress) { lines = append(lines, p) },
		})
		time.Sleep(30 * time.Millisecond)
		if err := steady(t, r, 3, 1000, 1130*time.Millisecond, Window{}); err != nil {
			t.Fatal(err)
		}
		f := r.Flow()
		const total = 3 * 1130 * 1000
		sum := int64(0)
		for i, s := range f.Samples {
			sum += s.ReceivedBytes
			want := min(int64(i+1)*100e6, 1129_500_000)
			if s.EndNs != want || i > 0 && s.StartNs != f.Samples[i-1].EndNs {
				t.Errorf("sample %d is %d..%d, want its end at %d", i, s.StartNs, s.EndNs, want)
			}
		}
		if sum != total || len(f.Samples) != 12 {
			t.Errorf("%d samples of %d bytes, want 12 of %d", len(f.Samples), sum, total)
		}
		if f.StartNs != 30e6 || f.DurationNs != 1129_500_000 || f.Direction != measure.Reverse || f.Role != measure.Receiver {
			t.Errorf("start %d, duration %d, %s, %s", f.StartNs, f.DurationNs, f.Direction, f.Role)
		}
		for _, s := range f.Streams {
			if s.ReceivedBytes != total/3 || len(s.Samples) != 5 || s.SentBytes != 0 {
				t.Errorf("stream %d has %d bytes in %d samples", s.Index, s.ReceivedBytes, len(s.Samples))
			}
		}
		if len(lines) != 5 { // the last, 130 ms, is more than a tenth of 250
			t.Fatalf("%d live lines, want 5", len(lines))
		}
		p := lines[1]
		if p.StartNs != 250e6 || p.EndNs != 500e6 || p.Bytes != 750_000 || p.Bps != 24e6 || len(p.Streams) != 3 || p.Retrans != nil {
			t.Errorf("second live line: %+v", p)
		}
	})
}

func TestAShortLastIntervalIsMarkedAsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rests []bool
		r := NewRecorder(Config{Conns: conns(t, 1), Role: measure.Sender, Observe: func(p measure.Progress) { rests = append(rests, p.Rest) }})
		if err := steady(t, r, 1, 1, 1050*time.Millisecond, Window{}); err != nil {
			t.Fatal(err)
		}
		f := r.Flow()
		if !slices.Equal(rests, []bool{false, true}) || len(f.Streams[0].Samples) != 2 || f.Samples[len(f.Samples)-1].EndNs != 1049_500_000 {
			t.Errorf("lines %v, %d samples of the stream", rests, len(f.Streams[0].Samples))
		}
		if f.Streams[0].SentBytes != 1050 || f.Samples[0].SentBytes != 100 {
			t.Errorf("%d bytes, %d in the first sample", f.Streams[0].SentBytes, f.Samples[0].SentBytes)
		}
	})
}

func TestTheOmittedPartIsInNoCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var retrans atomic.Int64
		retrans.Store(40) // before the flow
		r := NewRecorder(Config{
			Conns: conns(t, 1), Role: measure.Sender,
			Info: func(int) (measure.TCPInfo, bool) { return measure.TCPInfo{Retransmits: retrans.Load()}, true },
		})
		go func() { time.Sleep(700 * time.Millisecond); retrans.Store(43) }()
		if err := steady(t, r, 1, 10, 900*time.Millisecond, Window{Omit: 400 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		f := r.Flow()
		if n := f.Streams[0].SentBytes; n != 5000 {
			t.Errorf("%d bytes, want those of the last 500 ms", n)
		}
		if f.Samples[0].StartNs != 0 || f.Samples[0].EndNs != 100e6 || f.StartNs != 400e6 || f.DurationNs != 499_500_000 {
			t.Errorf("first sample %+v, start %d, duration %d", f.Samples[0], f.StartNs, f.DurationNs)
		}
		if s := f.Streams[0].Samples; len(s) != 1 || s[0].TCP == nil || s[0].TCP.Retransmits != 3 {
			t.Errorf("samples of the stream: %+v", s)
		}
	})
}

func TestAnOmittedStartHasLiveLinesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var retrans atomic.Int64
		var lines []measure.Progress
		r := NewRecorder(Config{
			Conns: conns(t, 2), Role: measure.Sender, Interval: 200 * time.Millisecond,
			Observe: func(p measure.Progress) { lines = append(lines, p) },
			Info:    func(int) (measure.TCPInfo, bool) { return measure.TCPInfo{Retransmits: retrans.Load()}, true },
		})
		go func() { time.Sleep(300 * time.Millisecond); retrans.Store(5) }()
		if err := steady(t, r, 2, 10, 900*time.Millisecond, Window{Omit: 500 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		if len(lines) != 5 {
			t.Fatalf("%d lines: %+v", len(lines), lines)
		}
		ends := []int64{200e6, 400e6, 500e6, 200e6, 400e6}
		for i, p := range lines {
			if omitted := i < 3; p.Omitted != omitted || p.EndNs > ends[i] || p.EndNs < ends[i]-1e6 {
				t.Errorf("line %d: %+v", i, p)
			}
			if len(p.Samples) != 2 || p.Samples[0].SentBytes+p.Samples[1].SentBytes != p.Bytes || p.Bytes < 1900 {
				t.Errorf("line %d is not the sum of its streams: %+v", i, p)
			}
		}
		if *lines[1].Retrans != 10 || *lines[0].Retrans != 0 || *lines[3].Retrans != 0 || lines[3].Samples[0].TCP.Retransmits != 0 {
			t.Errorf("retransmits %d, %d, %d", *lines[0].Retrans, *lines[1].Retrans, *lines[3].Retrans)
		}
	})
}

func TestAFlowThatEndsWithinTheOmittedPartIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder(Config{Conns: conns(t, 1), Role: measure.Receiver})
		if err := steady(t, r, 1, 10, 100*time.Millisecond, Window{Omit: time.Second}); err != nil {
			t.Fatal(err)
		}
		if f := r.Flow(); f.Streams[0].ReceivedBytes != 0 || len(f.Samples) != 0 || f.DurationNs != 0 {
			t.Errorf("%+v", f)
		}
	})
}

func TestAStallIsSampledAndEndsAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder(Config{Conns: conns(t, 1), Role: measure.Receiver})
		began := time.Now()
		err := r.Watch(t.Context(), Window{From: began, Idle: time.Second, Done: make(chan struct{})})
		if !errors.Is(err, ErrIdle) || time.Since(began) > 1300*time.Millisecond {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
		r.End()
		if f := r.Flow(); len(f.Samples) < 10 || f.Samples[9].EndNs != 1e9 || f.Samples[9].ReceivedBytes != 0 {
			t.Errorf("%d samples", len(f.Samples))
		}
	})
}

func TestWatchReturnsTheCauseOfTheContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	r := NewRecorder(Config{Conns: conns(t, 1)})
	if err := r.Watch(ctx, Window{From: time.Now()}); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

// A timer that fires late makes one longer sample with the true times, and the
// boundaries after it stay where they were.
func TestALateTimerMakesALongerSample(t *testing.T) {
	r := NewRecorder(Config{Conns: conns(t, 1), Role: measure.Receiver})
	zero := time.Now().Add(-350 * time.Millisecond)
	r.begin(reading{at: zero, counts: make([]Count, 1)})
	r.Cell(0).Publish(Count{Bytes: 700, Last: time.Now()})
	r.tick()
	s := r.steps.items
	if len(s) != 1 || s[0].StartNs != 0 || s[0].EndNs < 350e6 || s[0].ReceivedBytes != 700 {
		t.Fatalf("samples %+v", s)
	}
	if next := r.nextStep().Sub(zero); next%Step != 0 || next <= 350*time.Millisecond {
		t.Errorf("next boundary at %v", next)
	}
}

func TestJitterOfAllStreamsIsTheirMean(t *testing.T) {
	from := reading{counts: make([]Count, 3)}
	to := reading{counts: []Count{{JitterNs: 100, Gaps: 2}, {JitterNs: 300, Gaps: 1}, {}}}
	if n, jitter := difference(from, to, all); jitter != 200 || n.Gaps != 3 {
		t.Errorf("jitter %v, gaps %d", jitter, n.Gaps)
	}
}

func TestASeriesHasBoundedSizeAndLosesNothing(t *testing.T) {
	s := newSeries(16)
	const n = 1000
	for i := range int64(n) {
		s.add(measure.Sample{StartNs: i, EndNs: i + 1, ReceivedBytes: 2, SentBytes: 1, Packets: 3, Lost: 4})
	}
	var sum measure.Sample
	for i, x := range s.items {
		if i > 0 && x.StartNs != s.items[i-1].EndNs {
			t.Errorf("item %d starts at %d, after %d", i, x.StartNs, s.items[i-1].EndNs)
		}
		if i < len(s.items)-1 && x.EndNs-x.StartNs != 64 { // 1000 in at most 16
			t.Errorf("item %d is %d long, want all of one length", i, x.EndNs-x.StartNs)
		}
		sum = join(sum, x)
	}
	if len(s.items) > 16 || len(s.items) < 8 || sum.EndNs != n || sum.ReceivedBytes != 2*n || sum.SentBytes != n || sum.Packets != 3*n || sum.Lost != 4*n {
		t.Errorf("%d items, together %+v", len(s.items), sum)
	}
}

// A program that is kept from its processor reads late, and then much at a time.
func TestSamplesOfAReceiverAreOfWhatHasArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		arrived := func(int) (int64, bool) { return time.Since(begin).Milliseconds() * 1000, true }
		r := NewRecorder(Config{Role: measure.Receiver, Interval: time.Second, Conns: conns(t, 1), Arrived: arrived})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, at := range []int64{50, 100, 150, 480, 550, 700} { // ms
				time.Sleep(time.Until(begin.Add(time.Duration(at * 1e6))))
				r.Cell(0).Publish(Count{Bytes: at * 1000, Last: time.Now()})
			}
		}()
		if err := r.Watch(t.Context(), Window{From: begin, Done: done}); err != nil {
			t.Fatal(err)
		}
		r.End()
		f, sum := r.Flow(), int64(0)
		for i, s := range f.Samples {
			sum += s.ReceivedBytes
			if s.ReceivedBytes != 100_000 {
				t.Errorf("sample %d has %d bytes", i, s.ReceivedBytes)
			}
		}
		if sum != 700_000 || f.Streams[0].ReceivedBytes != 700_000 {
			t.Errorf("%d bytes in samples, %d in all", sum, f.Streams[0].ReceivedBytes)
		}
	})
}

// Bytes that are left unread at the end are in a sample, and in no total.
func TestWhatIsNeverReadMakesNoCountNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := NewRecorder(Config{Role: measure.Receiver, Interval: time.Second, Conns: conns(t, 1), Arrived: func(int) (int64, bool) { return 5000, true }})
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(250 * time.Millisecond)
			r.Cell(0).Publish(Count{Bytes: 2000, Last: time.Now()})
		}()
		if err := r.Watch(t.Context(), Window{From: begin, Omit: 120 * time.Millisecond, Done: done}); err != nil {
			t.Fatal(err)
		}
		r.End()
		for _, s := range r.Flow().Samples {
			if s.ReceivedBytes < 0 {
				t.Errorf("%+v", s)
			}
		}
		if n := r.Total(0).Bytes; n != 0 {
			t.Errorf("%d bytes after the omitted start", n)
		}
	})
}
