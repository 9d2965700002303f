package roundtrip

import (
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = int64(time.Millisecond)

// record gives a recorder n round trips of the time rtt gives, spaced by step,
// and returns what it made.
func record(c Config, n, step int64, rtt func(i int64) int64) Recorded {
	c.Zero = time.Now()
	r := Start(c)
	for i := range n {
		r.Reply(i*step, i*step+rtt(i))
	}
	return r.Stop(n * step)
}

func constant(ns int64) func(int64) int64 { return func(int64) int64 { return ns } }

func TestEveryRoundTripIsInTheHistogram(t *testing.T) {
	got := record(Config{Row: 1000, Count: 100_000}, 100_000, 10_000, func(i int64) int64 { return 1000 + i%10 })
	h := got.Histogram
	if h.Count() != 100_000 || h.Min() != 1000 || h.Max() != 1009 {
		t.Errorf("count %d, min %d, max %d", h.Count(), h.Min(), h.Max())
	}
}

func TestARowHasItsNumberOfRoundTrips(t *testing.T) {
	got := record(Config{Row: 100, Count: 250}, 250, ms, constant(5000))
	if len(got.Rows) != 3 || got.RowsCut {
		t.Fatalf("%d rows of 250 round trips in hundreds", len(got.Rows))
	}
	for i, want := range []int64{100, 100, 50} {
		row := got.Rows[i]
		first, last := int64(i)*100, int64(i)*100+want-1
		if row.RTT.Count != want || row.StartNs != first*ms || row.EndNs != last*ms+5000 {
			t.Errorf("row %d: %+v", i, row)
		}
	}
}

func TestTheFirstRowsAreKept(t *testing.T) {
	got := record(Config{Row: 1, Count: MaxRows + 50}, MaxRows+50, 1000, func(i int64) int64 { return 1 + i/100 })
	if len(got.Rows) != MaxRows || !got.RowsCut {
		t.Fatalf("%d rows, cut %v", len(got.Rows), got.RowsCut)
	}
	if got.Rows[0].RTT.Max != 1 || got.Histogram.Count() != MaxRows+50 {
		t.Errorf("first row %+v, %d in the histogram", got.Rows[0], got.Histogram.Count())
	}
}

func TestWithoutALengthARowIsAnInterval(t *testing.T) {
	got := record(Config{Interval: 100 * time.Millisecond, Count: 25}, 25, 10*ms, constant(1000))
	if len(got.Rows) != 3 || got.Rows[1].StartNs != 100*ms || got.Rows[1].EndNs != 200*ms || got.Rows[1].RTT.Count != 10 {
		t.Errorf("got %+v", got.Rows)
	}
}

func TestASeriesHasAtMostAThousandPoints(t *testing.T) {
	byTime := record(Config{Row: 1000, Duration: time.Second}, 5000, 200_000, func(i int64) int64 { return 100 + i/5 })
	if len(byTime.Series) != 1000 {
		t.Fatalf("%d points of 1 s in 5000 round trips", len(byTime.Series))
	}
	for i, p := range byTime.Series {
		if p.AtNs != int64(i)*ms || p.MaxNs < p.P50Ns {
			t.Fatalf("point %d: %+v", i, p)
		}
	}
	if byTime.Series[999].MaxNs < 1000 {
		t.Errorf("the last point is %+v", byTime.Series[999])
	}
	byCount := record(Config{Row: 1000, Count: 4321}, 4321, 1000, constant(7))
	if n := len(byCount.Series); n > 1000 || n < 800 {
		t.Errorf("%d points of 4321 round trips", n)
	}
	few := record(Config{Row: 1000, Count: 3}, 3, 1000, constant(7))
	if len(few.Series) != 3 {
		t.Errorf("%d points of 3 round trips", len(few.Series))
	}
}

func TestARowHasThePercentilesOfItsHistogram(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 10, 1000, 2048, 2049, 10_000} {
		got := record(Config{Row: n, Count: n}, n, 1000, func(i int64) int64 { return (i*7919%n + 1) * 1000 })
		have, want := got.Rows[0].RTT, *got.Histogram.Percentiles()
		for name, pair := range map[string][2]float64{
			"min": {have.Min, want.Min}, "mean": {have.Mean, want.Mean}, "p50": {have.P50, want.P50}, "p90": {have.P90, want.P90},
			"p99": {have.P99, want.P99}, "p99.9": {have.P999, want.P999}, "p99.99": {have.P9999, want.P9999}, "max": {have.Max, want.Max},
		} {
			if d := pair[0] - pair[1]; d > pair[1]/500 || d < -pair[1]/500 {
				t.Errorf("%s of 1 to %d µs: the row says %v, the histogram %v", name, n, pair[0], pair[1])
			}
		}
		if have.Count != n {
			t.Errorf("%d of %d", have.Count, n)
		}
	}
}

func TestAPointIsTheMedianOfItsSliceWhateverItsSize(t *testing.T) {
	for _, n := range []int64{1, 2, 5, 2048, 2049, 50_000} {
		// All in one slice: 1 to n µs in a mixed order.
		got := record(Config{Row: 1 << 40, Duration: 1000 * time.Hour}, n, 1, func(i int64) int64 { return (i*7919%n + 1) * 1000 })
		p := got.Series[0]
		want := (n + 1) / 2 * 1000
		if len(got.Series) != 1 || p.P50Ns < want-want/500 || p.P50Ns > want+want/500+1 || p.MaxNs != n*1000 {
			t.Errorf("1 to %d µs: got %+v, want a median of %d ns", n, got.Series, want)
		}
	}
}

func TestRepliesAfterTheNominalEndBelongToTheLastSliceAndInterval(t *testing.T) {
	var shown []measure.Progress
	got := record(Config{
		Row: 10, Duration: 200 * time.Millisecond, Interval: 100 * time.Millisecond,
		Observe: func(p measure.Progress) { shown = append(shown, p) },
	}, 21, 10*ms, constant(5*ms))
	if len(shown) != 2 || shown[1].EndNs != 210*ms || shown[0].Packets+shown[1].Packets != 21 {
		t.Errorf("intervals: %+v", shown)
	}
	last := got.Series[len(got.Series)-1]
	if last.AtNs != 999*200*ms/1000 {
		t.Errorf("last point %+v", last)
	}
}

func TestIntervalsFollowOneAnotherWithTheirOwnTimesAndLosses(t *testing.T) {
	var shown []measure.Progress
	r := Start(Config{
		Zero: time.Now(), Row: 10, Count: 100, Interval: 100 * time.Millisecond,
		Observe: func(p measure.Progress) { shown = append(shown, p) },
	})
	r.Reply(0, 1000)
	r.Lost(50 * ms)
	r.Reply(150*ms, 150*ms+3000)
	r.Reply(350*ms, 350*ms+5000)
	r.Stop(360 * ms)
	if len(shown) != 4 {
		t.Fatalf("%d intervals, want 4: %+v", len(shown), shown)
	}
	for i, want := range []struct{ packets, lost int64 }{{1, 1}, {1, 0}, {0, 0}, {1, 0}} {
		p := shown[i]
		if p.StartNs != int64(i)*100*ms || p.Packets != want.packets || p.Lost != want.lost || (p.RTT != nil) != (want.packets > 0) {
			t.Errorf("interval %d: %+v", i, p)
		}
	}
	if shown[3].EndNs != 360*ms || shown[3].RTT.P50 < 5000 {
		t.Errorf("the last interval: %+v", shown[3])
	}
}

func TestAnIntervalIsShownWithoutReplies(t *testing.T) {
	shown := make(chan measure.Progress, 10)
	r := Start(Config{Zero: time.Now(), Row: 10, Duration: time.Hour, Interval: 20 * time.Millisecond, Observe: func(p measure.Progress) { shown <- p }})
	defer r.Stop(0)
	if p := <-shown; p.Packets != 0 || p.EndNs != 20*ms {
		t.Errorf("got %+v", p)
	}
}

func TestAnIntervalHasAllItsRepliesIfNoneFollow(t *testing.T) {
	shown := make(chan measure.Progress, 10)
	r := Start(Config{Zero: time.Now(), Row: 10, Duration: time.Hour, Interval: 50 * time.Millisecond, Observe: func(p measure.Progress) { shown <- p }})
	for at := range 5 * ms {
		if at%ms == 0 {
			r.Reply(at, at+1)
		}
	}
	for i, want := range []int64{5, 0} {
		if p := <-shown; p.Packets != want {
			t.Errorf("interval %d has %d replies of %d", i, p.Packets, want)
		}
	}
	if kept := r.Stop(100 * ms); kept.Histogram.Count() != 5 {
		t.Errorf("%d replies are recorded of 5", kept.Histogram.Count())
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := Start(Config{Zero: time.Now(), Row: 1 << 40, Count: 1 << 40})
	at := int64(0)
	if n := testing.AllocsPerRun(10_000, func() { r.Reply(at, at+500); at += 1000 }); n != 0 {
		t.Errorf("%v allocations a round trip", n)
	}
	r.Stop(at)
}

func BenchmarkReply(b *testing.B) {
	r := Start(Config{Zero: time.Now(), Row: 1000, Count: int64(b.N)})
	at := int64(0)
	for b.Loop() {
		r.Reply(at, at+20_000)
		at += 20_000
	}
	r.Stop(at)
}

func TestAnInlineRecorderKeepsTheSameBooks(t *testing.T) {
	const ms = int64(time.Millisecond)
	var shown [2][]measure.Progress
	var kept [2]Recorded
	for i, inline := range []bool{false, true} {
		r := Start(Config{
			Zero: time.Now(), Row: 2, Interval: 100 * time.Millisecond, Duration: 300 * time.Millisecond, Inline: inline,
			Observe: func(p measure.Progress) { shown[i] = append(shown[i], p) },
		})
		r.ReplyRead(0, 1000, 1500)
		r.Lost(50 * ms)
		r.ReplyRead(250*ms, 250*ms+3000, 250*ms+3000)
		kept[i] = r.Stop(300 * ms)
	}
	if !reflect.DeepEqual(shown[0], shown[1]) || len(shown[1]) != 3 || shown[1][0].Lost != 1 {
		t.Errorf("shown %+v and %+v", shown[0], shown[1])
	}
	for i, k := range kept {
		if k.Histogram.Count() != 2 || k.Application.Count() != 2 || k.Histogram.Min() != 1000 || k.Application.Min() != 1500 || len(k.Rows) != 1 {
			t.Errorf("%d: %+v", i, k)
		}
	}
}

func TestAnInlineRecorderShowsAnEmptyInterval(t *testing.T) {
	shown := make(chan measure.Progress, 8)
	r := Start(Config{Zero: time.Now(), Row: 1, Interval: 100 * time.Millisecond, Inline: true, Observe: func(p measure.Progress) { shown <- p }})
	r.Tick(int64(99 * time.Millisecond)) // before its end
	r.Tick(int64(150 * time.Millisecond))
	select {
	case p := <-shown: // while the trial goes on
		if p.Packets != 0 || p.EndNs != int64(100*time.Millisecond) {
			t.Errorf("shown: %+v", p)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is shown")
	}
	r.Stop(int64(150 * time.Millisecond))
	if len(shown) != 0 {
		t.Errorf("also shown: %+v", <-shown)
	}
}
