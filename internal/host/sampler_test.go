package host

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestASeriesIsTakenOnlyWhenAskedFor(t *testing.T) {
	s := Watch("")
	s.Stop(Moved{})
	if got := s.Series(); got != nil || s.end != nil {
		t.Errorf("%d readings", len(got))
	}
}

func TestASeriesCoversTheWholeTimeAndIsInOrder(t *testing.T) {
	s := Sample(Sampling{Series: true, Every: time.Millisecond})
	for len(s.Series()) < 5 {
		time.Sleep(time.Millisecond)
	}
	c := s.Stop(Moved{})
	all := s.Series()
	if len(all) < 6 {
		t.Fatalf("%d readings", len(all))
	}
	for i, r := range all {
		if i > 0 && (r.At.Before(all[i-1].At) || r.Total.UserNs < all[i-1].Total.UserNs) {
			t.Errorf("reading %d comes before the one in front of it: %+v, %+v", i, all[i-1], r)
		}
		if len(r.CPUs) == 0 || len(r.CPUs) < runtime.NumCPU() {
			t.Errorf("reading %d has %d processors", i, len(r.CPUs))
		}
	}
	if whole := Difference(all[0], all[len(all)-1]); whole.WallNs != c.WallNs || whole.CPUBusyNs != c.CPUBusyNs {
		t.Errorf("the series says %+v, the sampler %+v", whole, c)
	}
	s.Stop(Moved{})
	if again := s.Series(); len(again) != len(all) {
		t.Errorf("%d readings, %d after another stop", len(all), len(again))
	}
}

func TestAFullSeriesKeepsItsEndsAtHalfTheResolution(t *testing.T) {
	s := series{most: 8, every: 1}
	start := time.Now()
	for i := range 100 {
		s.add(Reading{At: start.Add(time.Duration(i)), TCPRetransSegs: int64(i)})
		if len(s.readings) > 8 || s.readings[0].TCPRetransSegs != 0 || s.readings[len(s.readings)-1].TCPRetransSegs != int64(i) {
			t.Fatalf("after %d readings: %d are kept", i+1, len(s.readings))
		}
		for j := 1; j < len(s.readings); j++ {
			if s.readings[j].TCPRetransSegs <= s.readings[j-1].TCPRetransSegs {
				t.Fatalf("after %d readings: %+v", i+1, s.readings)
			}
		}
	}
	if s.every < 16 {
		t.Errorf("100 readings, 8 kept, every %d", s.every)
	}
}

func TestEverySecondReadingOfAFullSeriesGoes(t *testing.T) {
	s := series{most: 5, every: time.Second}
	for i := range 6 {
		s.add(Reading{TCPRetransSegs: int64(i)})
	}
	var kept []int64
	for _, r := range s.readings {
		kept = append(kept, r.TCPRetransSegs)
	}
	if want := []int64{0, 2, 4, 5}; !slices.Equal(kept, want) || s.every != 2*time.Second {
		t.Errorf("kept %v every %s, want %v every 2s", kept, s.every, want)
	}
}

func TestASeriesThatIsFullIsTakenMoreSlowly(t *testing.T) {
	s := Sample(Sampling{Series: true, Every: time.Millisecond, Most: 4})
	for {
		s.mu.Lock()
		every, kept := s.series.every, len(s.series.readings)
		s.mu.Unlock()
		if kept > 4 {
			t.Fatalf("%d readings are kept", kept)
		}
		if every >= 4*time.Millisecond {
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.Stop(Moved{})
}
