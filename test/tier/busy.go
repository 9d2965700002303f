package tier

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Busy begins the message of a timing-sensitive test that failed on a busy host. test/skips
// accepts such a failure if the test passes when it is repeated.
const Busy = "tier: failed on a busy host: "

// A host is busy if, during a test, the hypervisor took more than this share of the
// processors' time, or other programs did.
const (
	mostStolen = 0.02
	mostOthers = 0.1
)

// sayIfBusy logs at the end of a failed test what others took of the processors' time, if that
// makes the host a busy one.
func sayIfBusy(t testing.TB) {
	t.Helper()
	before, began := now(), time.Now()
	if before == nil {
		return
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		after, all := now(), time.Since(began).Seconds()*float64(runtime.NumCPU())
		stolen, others := (after.stolen-before.stolen)/all, (after.busy-before.busy-(after.own-before.own))/all
		if stolen > mostStolen || others > mostOthers {
			t.Logf("%sthe hypervisor took %.0f %% of the processors' time, other programs %.0f %%", Busy, 100*stolen, 100*others)
		}
	})
}

// times are seconds of processor time since the start of the system, all processors together:
// stolen by the hypervisor, used by all programs, and used by this one and its children that
// have ended. Of a child that still runs the time is that of another program.
type times struct{ stolen, busy, own float64 }

const ticksPerSecond = 100 // of /proc/stat, proc_stat(5)

// now returns nil if the system does not count them.
func now() *times {
	text, err := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if err != nil || len(fields) < 9 || fields[0] != "cpu" {
		return nil
	}
	var ticks [9]float64
	for i := 1; i < len(ticks); i++ {
		if ticks[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return nil
		}
	}
	const user, nice, system, irq, softirq, steal = 1, 2, 3, 6, 7, 8
	return &times{
		stolen: ticks[steal] / ticksPerSecond,
		busy:   (ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq]) / ticksPerSecond,
		own:    ownSeconds(),
	}
}
