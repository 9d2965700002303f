package series

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is one with a single column.
func source(key string, gauge bool, read func() int64) opener {
	return func() Source {
		return Source{Columns: []Column{{Key: key, Gauge: gauge}}, Read: func(row []int64) { row[0] = read() }}
	}
}

// counting reads 10, 20, 30 and so on.
func counting() func() int64 {
	n := int64(0)
	return func() int64 { n += 10; return n }
}

// atNoCost is the clock of sources that are read each time, however busy the processors are.
func atNoCost() time.Duration { return 0 }

// begin starts a sampler of these sources alone.
func begin(host []opener, c Config, hang time.Duration) *Sampler {
	running.Add(1)
	c.clock = atNoCost
	return start(host, c, hang)
}

func values(t *testing.T, s *Sampler) measure.SeriesValues {
	t.Helper()
	v, err := s.Stop().Values()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestASeriesHasDifferencesOfCountersAndValuesOfGauges(t *testing.T) {
	read := make(chan struct{}, 100)
	s := begin([]opener{
		source("a.counter", false, counting()), source("a.gauge", true, counting()), none, source("a.still", false, func() int64 { return 7 }),
		source("not a key", false, counting()), source("z.reading", true, func() int64 { read <- struct{}{}; return 0 }),
	}, Config{every: time.Millisecond}, hang)
	for range 5 {
		<-read
	}
	v := values(t, s)
	n := len(v.AtNs) - 1
	if n < 4 || v.AtNs[0] != 0 || !slices.IsSorted(v.AtNs) {
		t.Fatalf("moments: %v", v.AtNs)
	}
	if len(v.Columns) != 3 || len(v.Columns["a.counter"]) != n || len(v.Columns["z.reading"]) != n {
		t.Fatalf("%d intervals, columns: %v", n, v.Columns)
	}
	for i := range n {
		if v.Columns["a.counter"][i] != 10 || v.Columns["a.gauge"][i] != int64(20+10*i) {
			t.Errorf("interval %d: %d and %d", i, v.Columns["a.counter"][i], v.Columns["a.gauge"][i])
		}
	}
	if again := values(t, s); len(again.AtNs) != len(v.AtNs) {
		t.Errorf("%d moments, then %d", len(v.AtNs), len(again.AtNs))
	}
	if (*Sampler)(nil).Stop() != nil {
		t.Error("a sampler that was not started has a series")
	}
}

// A source that hangs is left where it hangs; the others go on, and so does the trial.
func TestASourceThatHangsCostsItsColumns(t *testing.T) {
	for name, at := range map[string]struct{ open, read int }{"as it is opened": {open: 1}, "as it is read first": {read: 1}, "later": {read: 3}} {
		t.Run(name, func(t *testing.T) {
			release, closed := make(chan struct{}), make(chan struct{})
			reads := 0
			hanging := func() Source {
				if at.open == 1 {
					<-release
				}
				return Source{Columns: counters("bad.counter"), Close: func() { close(closed) }, Read: func(row []int64) {
					if reads++; reads == at.read {
						<-release
					}
					row[0] = int64(reads)
				}}
			}
			read := make(chan struct{}, 1000)
			s := begin([]opener{
				source("good.first", false, counting()), hanging,
				source("good.last", false, func() int64 { read <- struct{}{}; return time.Now().UnixNano() }),
			}, Config{every: time.Millisecond}, 20*time.Millisecond)
			for range 8 {
				<-read
			}
			v := values(t, s)
			if len(v.Columns["good.first"]) == 0 || len(v.Columns["good.last"]) == 0 {
				t.Errorf("the others: %v", v.Columns)
			}
			if bad := v.Columns["bad.counter"]; len(bad) > 0 && bad[len(bad)-1] != -1 {
				t.Errorf("the one that hangs: %v", bad)
			}
			if n := running.Load(); n != 1 {
				t.Errorf("%d count as running while one hangs", n)
			}
			close(release)
			<-closed // by the goroutine that hung
			if n := running.Load(); n != 0 {
				t.Errorf("%d count as running", n)
			}
		})
	}
}

func TestStopDoesNotWaitForASourceThatHangs(t *testing.T) {
	release, closed := make(chan struct{}), make(chan struct{})
	reading := make(chan struct{}, 100)
	first := true
	s := begin([]opener{func() Source {
		return Source{Columns: counters("bad.counter"), Close: func() { close(closed) }, Read: func(row []int64) {
			reading <- struct{}{}
			if !first {
				<-release
			}
			first, row[0] = false, 1
		}}
	}}, Config{every: time.Millisecond}, time.Hour)
	<-reading
	<-reading
	if v := values(t, s); len(v.Columns) != 0 { // it was read once
		t.Errorf("%v", v.Columns)
	}
	close(release)
	<-closed
}

// Where the goroutine is in no source when it is given up, because it was late itself, nothing
// is lost, and everything is closed once.
func TestAReaderThatIsLateLosesNoSource(t *testing.T) {
	closed := map[string]int{}
	one := func(key string) opener {
		return func() Source {
			return Source{Columns: counters(key), Read: func(row []int64) { row[0] = 7 }, Close: func() { closed[key]++ }}
		}
	}
	first := newReader([]opener{one("a"), one("b")}, atNoCost)
	read := func(r *reader) {
		t.Helper()
		r.requests <- true
		if got := <-r.results; len(got.columns) != 2 || !slices.Equal(got.row, []int64{7, 7}) {
			t.Errorf("%v: %v", got.columns, got.row)
		}
	}
	before := first.withoutHanging() // before the first reading
	<-first.ended
	read(before)
	after := before.withoutHanging() // between two readings
	<-before.ended
	if len(closed) != 0 {
		t.Errorf("closed too early: %v", closed)
	}
	read(after)
	after.close()
	if closed["a"] != 1 || closed["b"] != 1 || running.Load() != 0 {
		t.Errorf("closed %v times, %d run", closed, running.Load())
	}
}

func TestAnExpensiveSourceIsReadSeldomAndItsDifferenceSpread(t *testing.T) {
	var used time.Duration
	dear := counting()
	r := newReader([]opener{source("cheap", false, counting()), source("dear", false, func() int64 { used += 4 * cheap; return dear() })},
		func() time.Duration { return used })
	r.requests <- true
	<-r.results
	var tab table
	tab.most = 100
	tab.widen(r.columns)
	at := time.Now()
	for i := range 11 {
		r.requests <- false
		got := <-r.results
		tab.add(at.Add(time.Duration(i)*time.Second), got.row)
		for _, s := range got.late {
			tab.spread(s.first, len(s.Columns))
		}
		if known := got.row[1] != Unknown; known != (i%5 == 4) {
			t.Errorf("reading %d: %v", i, got.row)
		}
	}
	r.close()
	v, ok := tab.values()
	if want := []int64{-1, -1, -1, -1, 2, 2, 2, 2, 2, -1}; !ok || !slices.Equal(v.Columns["dear"], want) {
		t.Errorf("%v, want %v", v.Columns["dear"], want)
	}
}

func TestStartAndStopAreQuickWhereNothingCanBeRead(t *testing.T) {
	s := begin(nil, Config{every: time.Hour}, hang)
	if v := values(t, s); len(v.Columns) != 0 {
		t.Errorf("%v", v)
	}
}

func TestAProcessHasFewSamplersAtOnce(t *testing.T) {
	var all []*Sampler
	for range MostAtOnce {
		all = append(all, Start(Config{}))
	}
	if beside := Start(Config{}); beside != nil || beside.Stop() != nil {
		t.Errorf("there is one beside %d", MostAtOnce)
	}
	for _, s := range all {
		s.Stop()
		s.Stop() // again changes nothing
	}
	if s := Start(Config{}); s == nil {
		t.Error("there is none after the others ended")
	} else {
		s.Stop()
	}
}
