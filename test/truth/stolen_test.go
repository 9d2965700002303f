package truth

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

// A hypervisor that takes the processors away takes them from the emulated network,
// too: its delays and caps are then not what they say. What is measured meanwhile
// says nothing about soku and is measured again, a bounded number of times.
const (
	stolenMost    = 0.02 // of all processors' time in a measurement
	stolenTooMuch = 0.1  // nothing can be said of a network that is emulated meanwhile
	againMost     = 12
	ticksASecond  = 100 // of /proc/stat, proc_stat(5)
	stolenAtField = 8
)

// patience is how much time all tests together may spend on measuring again. They
// run one after another.
var patience = 3 * time.Minute

// taken are the shares of a test's measurements that the hypervisor took.
var taken = map[string][]float64{}

// wrong is for a figure that is not the truth: the test fails, unless the hypervisor took
// so much of most of its measurements that there was no truth. Each figure has a test of
// its own, so that the measurements of one do not excuse another.
func wrong(t *testing.T, format string, args ...any) {
	t.Helper()
	if share := median(taken[t.Name()]); share > stolenTooMuch {
		t.Skipf(format+"; the hypervisor took %.0f %% of the processors' time, which allows no verdict", append(args, 100*share)...)
	}
	t.Errorf(format, args...)
}

// undisturbed measures until the hypervisor took little, and returns the measurement
// that it took the least of.
func undisturbed(t *testing.T, run func() *measure.Result) (best *measure.Result) {
	t.Helper()
	least := 1.0
	defer func() { taken[t.Name()] = append(taken[t.Name()], least) }()
	for range againMost {
		before, began := stolen(t), time.Now()
		r := run()
		share := (stolen(t) - before) / (time.Since(began).Seconds() * float64(runtime.NumCPU()))
		if best == nil || share < least {
			best, least = r, share
		}
		if share <= stolenMost {
			return best
		}
		if patience -= time.Since(began); patience <= 0 {
			break
		}
	}
	t.Logf("the hypervisor took at least %.0f %% of the processors' time in each measurement", 100*least)
	return best
}

// stolen is the time that the hypervisor took since the start of the system, seconds
// of all processors together.
func stolen(t *testing.T) float64 {
	t.Helper()
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	if len(fields) <= stolenAtField || fields[0] != "cpu" {
		t.Fatalf("/proc/stat begins with %q", line)
	}
	ticks, err := strconv.ParseFloat(fields[stolenAtField], 64)
	if err != nil {
		t.Fatal(err)
	}
	return ticks / ticksASecond
}
