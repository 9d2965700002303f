package sock

import (
	"net"
	"testing"
	"time"
)

func TestAnExpiryIsNeverUntilItIsSet(t *testing.T) {
	e := NewExpiry(NewGroup([]net.Conn{}))
	now := Now()
	if e.Passed(now.Add(time.Hour)) || e.Left(time.Second, now) != time.Second {
		t.Error("it passes without a time")
	}
	e.Set(now.Add(100 * time.Millisecond))
	for _, c := range []struct {
		after, left time.Duration
		passed      bool
	}{{0, 100 * time.Millisecond, false}, {99 * time.Millisecond, time.Millisecond, false}, {100 * time.Millisecond, time.Millisecond, true}} {
		at := now.Add(c.after)
		if e.Passed(at) != c.passed || e.Left(time.Second, at) != c.left {
			t.Errorf("after %s: passed %v, %s left", c.after, e.Passed(at), e.Left(time.Second, at))
		}
	}
	if got := e.Left(10*time.Millisecond, now); got != 10*time.Millisecond {
		t.Errorf("%s left of at most 10 ms", got)
	}
	e.Set(time.Time{})
	if e.Passed(now.Add(time.Hour)) {
		t.Error("it passes after it was set to never")
	}
}
