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

// nap puts the calling thread to sleep. A signal may end it early.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
}
