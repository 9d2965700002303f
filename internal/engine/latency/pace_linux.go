package latency

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadSpin is about how late a sleep of a thread ends with the timer slack
// at its least.
const threadSpin = 30 * time.Microsecond

// ownThread makes the pacer sleep on the calling thread itself, which is then
// not parked and woken through the runtime's timers, and makes its sleeps end on
// time, where 50 µs of slack is the default.
func (p *pacer) ownThread() {
	if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return
	}
	p.spin = threadSpin
	p.nap = nap
	p.release = func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}

// favour gives the calling thread, which is locked, the highest priority of
// ordinary ones where that is allowed: another thread that is busy on its processor
// would hold it up for whole time slices of milliseconds.
func favour() (restore func()) {
	tid := unix.Gettid()
	// The system call counts priorities from 40, the highest, down to 1 (getpriority(2)).
	now, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, tid, -20) != nil {
		return func() {}
	}
	return func() { _ = unix.Setpriority(unix.PRIO_PROCESS, tid, 20-now) }
}

// nap puts the calling thread to sleep. A signal may end it early.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
}
