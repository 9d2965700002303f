package connect

import "golang.org/x/sys/unix"

// threadSpin is about how late a sleep of a thread ends with the timer slack
// at its least.
const threadSpin = int64(30_000)

// ownThread makes the pacer sleep on the calling thread itself, and its sleeps
// end on time, where 50 µs of slack is the default.
func (p *pacer) ownThread() {
	if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return
	}
	p.spin = threadSpin
	p.sleep = func(ns int64) {
		ts := unix.NsecToTimespec(ns)
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
	}
	p.release = func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}
