package pace

import (
	"testing"
	"testing/synctest"
	"time"
)

const megabyte = 1e6

// moves spends pieces for d on a clock of its own as loops do, and returns the bytes.
func moves(b *Budget, piece int64, d time.Duration, spend func(int64) time.Duration) (bytes int64) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		bytes += piece
		wait := spend(piece)
		time.Sleep(max(wait, 10*time.Microsecond))
	}
	return bytes
}

func TestABudgetHoldsARateFromTheFirstMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(80*megabyte, 0) // 10 MB/s
		time.Sleep(time.Hour)          // unused: it begins with the first byte
		for _, d := range []time.Duration{200 * time.Millisecond, time.Second, 10 * time.Second} {
			n := float64(moves(b, 50_000, d, b.Spend))
			if most := 10 * megabyte * d.Seconds(); n < most || n > 1.05*most {
				t.Errorf("%.0f bytes in %v, want %.0f", n, d, most)
			}
		}
	})
}

func TestABudgetSavesASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(8*megabyte, 0) // 1 MB/s
		b.Spend(1)
		time.Sleep(time.Hour)
		if d := b.Spend(megabyte); d != 0 {
			t.Errorf("what was saved in a second makes it wait %v", d)
		}
		if d := b.Spend(megabyte); d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Errorf("it waits %v for a second's bytes more", d)
		}
	})
}

func TestWhatCannotBeSlowedDownIsEndedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(80*megabyte, 0)
		for range 600 { // a peer that holds the rate, in small bursts
			time.Sleep(100 * time.Millisecond)
			if !b.Draw(megabyte) {
				t.Fatal("a peer that holds the rate is ended")
			}
		}
		b = NewBudget(80*megabyte, 0)
		n := 0
		for b.Draw(10_000) {
			n++
		}
		if most := 100 + 120; n > most {
			t.Errorf("%d datagrams more at once, want at most %d", n, most)
		}
		select {
		case <-b.Over():
		default:
			t.Error("nobody is told")
		}
		if time.Sleep(time.Minute); b.Draw(1) || b.Left() != 0 {
			t.Error("it goes on later")
		}
	})
}

func TestPatienceIsOnlyLostWithAPeerThatNeverPauses(t *testing.T) {
	over := func(b *Budget) bool {
		select {
		case <-b.Over():
			return true
		default:
			return false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		greedy, endless := NewBudget(8*megabyte, 5*time.Second), NewBudget(8*megabyte, 0)
		moves(greedy, 5000, 4*time.Second, greedy.Slowed)
		if over(greedy) {
			t.Error("ended too early")
		}
		moves(greedy, 5000, 2*time.Second, greedy.Slowed)
		if !over(greedy) {
			t.Error("not ended after 6 s")
		}
		if moves(endless, 5000, time.Minute, endless.Slowed); over(endless) {
			t.Error("ended without a patience")
		}
		held := NewBudget(8*megabyte, 5*time.Second)
		for range 20 {
			moves(held, 5000, 4*time.Second, held.Slowed)
			for range 3 {
				time.Sleep(500 * time.Millisecond)
				held.Slowed(100)
			}
		}
		if over(held) {
			t.Error("a peer that pauses is ended")
		}
	})
}
