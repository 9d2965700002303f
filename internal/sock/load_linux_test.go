package sock

import (
	"runtime"
	"testing"
	"time"

	"soku/test/tier"
)

func TestTheIdleTimeIsThatOfTheProcessorsOfThisProcess(t *testing.T) {
	const stat = `cpu  10 0 10 700 70 0 0 0 0 0
cpu0 5 0 5 100 10 0 0 0 0 0
cpu1 5 0 5 200 20 0 0 0 0 0
cpu12 5 0 5 400 40 0 0 0 0 0
intr 5 1 1 1
cpu2 is no line of the processors
`
	if got, want := idleOf([]byte(stat), []int{0, 12}), 5500*time.Millisecond; got != want {
		t.Errorf("idle for %v, want %v", got, want)
	}
	for _, bad := range []string{"", "cpu0 1 2 3\n", "cpu0 1 2 3 x 5\n"} {
		if got := idleOf([]byte(bad), []int{0}); got != 0 {
			t.Errorf("%q: idle for %v", bad, got)
		}
	}
}

func TestALoadKnowsABusyThreadFromAWaitingOne(t *testing.T) {
	tier.WatchesTheClock(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var l Load
	l.Begin(true)
	time.Sleep(200 * time.Millisecond)
	waiting, idle := l.Share(), l.Idle()
	if waiting > 0.1 || idle < 0 || idle > float64(runtime.NumCPU())+0.2 {
		t.Errorf("a waiting thread has a share of %.2f, %.2f processors idle", waiting, idle)
	}
	l.Begin(false)
	for l.Span() < 200*time.Millisecond || threadTime()-l.ran < 20*time.Millisecond { // also on a busy host
	}
	if share, idle := l.Share(), l.Idle(); share < 2*waiting || share > 1.01 || idle != 0 {
		t.Errorf("a thread that computes has a share of %.2f, %.2f processors idle, which were not counted", share, idle)
	}
}
