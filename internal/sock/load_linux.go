package sock

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Load measures how busy a thread is and how many processors are idle meanwhile. Its methods are
// called by that thread, which must be locked. The zero value has measured nothing for a long time.
type Load struct {
	since     time.Time
	ran, idle time.Duration
}

// ticksPerSecond is the unit of /proc/stat on every machine that Go runs on (USER_HZ).
const ticksPerSecond = 100

// Begin begins to measure. Idle processors are counted only if asked for: on a host with many
// processors the kernel takes up to a millisecond for that.
func (l *Load) Begin(idle bool) {
	*l = Load{since: Now(), ran: threadTime(), idle: -1}
	if idle {
		l.idle = idleTime()
	}
}

// Span returns the time since Begin.
func (l *Load) Span() time.Duration { return Since(l.since) }

// Share returns the part of that time in which the thread ran, 0 to 1.
func (l *Load) Share() float64 { return float64(threadTime()-l.ran) / float64(l.Span()) }

// Idle returns how many of the processors that this process may use were idle since Begin, as a
// mean, with an error of 10 ms of the time of each of them, or 0 if it was not counted.
func (l *Load) Idle() float64 {
	if l.idle < 0 {
		return 0
	}
	return float64(idleTime()-l.idle) / float64(l.Span())
}

// threadTime returns how long the calling thread has run, or 0 if unknown.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// idleTime returns how long the processors that this process may use have been idle since the
// start of the system, added up, or 0 if unknown.
func idleTime() time.Duration {
	cpus, err := allowedCPUs()
	if err != nil {
		return 0
	}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return idleOf(stat, cpus)
}

// idleOf adds up the times idle and iowait of some processors in the text of /proc/stat (proc_stat(5)).
func idleOf(stat []byte, cpus []int) (sum time.Duration) {
	for line := range bytes.Lines(stat) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || !bytes.HasPrefix(fields[0], []byte("cpu")) {
			break // the processors come first
		}
		cpu, err := strconv.Atoi(string(fields[0][len("cpu"):]))
		if err != nil || !slices.Contains(cpus, cpu) {
			continue // all together, or of other programs
		}
		for _, field := range fields[4:6] {
			ticks, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return 0
			}
			sum += time.Duration(ticks) * time.Second / ticksPerSecond
		}
	}
	return sum
}
