package truth

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// If the hypervisor takes processor time (steal time), the emulated network is slowed down,
// too: its delays and caps then differ from the topology.
const (
	stolenMost    = 0.02 // of all processors' time in a measurement
	againMost     = 5
	ticksASecond  = 100 // of /proc/stat, proc_stat(5)
	stolenAtField = 8
)

// repeatTime is the time that all tests together may spend on repeated measurements. Some tests
// run in parallel.
var (
	repeatTime = 3 * time.Minute
	repeated   sync.Mutex
)

// agrees measures and compares with the truth. It fails the test with the error of compare,
// unless the hypervisor took processor time during the measurement: then it measures again, a
// limited number of times.
func agrees(t *testing.T, compare func() error) {
	t.Helper()
	for again := 1; ; again++ {
		before, began := stolen(t), time.Now()
		err := compare()
		if err == nil {
			return
		}
		took := time.Since(began)
		share := (stolen(t) - before) / (took.Seconds() * float64(runtime.NumCPU()))
		err = fmt.Errorf("%w; the hypervisor took %.0f %% of the processors' time", err, 100*share)
		if share <= stolenMost || again == againMost || !mayRepeat(took) {
			t.Error(err)
			return
		}
		t.Log(err)
	}
}

func mayRepeat(took time.Duration) bool {
	repeated.Lock()
	defer repeated.Unlock()
	repeatTime -= took
	return repeatTime > 0
}

// stolen is the steal time since the start of the system, seconds, all processors together.
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
