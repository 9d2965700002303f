package server

import (
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/measure"
)

func TestAnAllowanceIsTheRateWithRoomForWhatWasUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAllowance(measure.Rate(800e6), 0) // 100 MB/s
		for range 60 {
			time.Sleep(time.Second)
			if a.Spend(109e6) {
				t.Fatal("less than a tenth over the rate is too much")
			}
		}
		seconds := 0
		for over := false; !over && seconds < 60; seconds++ {
			time.Sleep(time.Second)
			over = a.Spend(150e6)
		}
		if seconds < 2 || seconds > 8 {
			t.Errorf("half as much again is too much after %d s", seconds)
		}
	})
}

func TestUnusedAllowanceIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewAllowance(measure.Rate(800e6), time.Second), NewAllowance(measure.Rate(800e6), 0)
		time.Sleep(time.Hour)
		if !a.Spend(300e6) {
			t.Error("three seconds' bytes after an hour of silence are allowed at once")
		}
		if b.Spend(300e6) {
			t.Error("a test that is counted once an hour may not move what the rate allows in that")
		}
	})
}
