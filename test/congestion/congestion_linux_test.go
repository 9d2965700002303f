package congestion

import (
	"slices"
	"testing"
)

func TestTheAllowedCongestionControlsAreRestored(t *testing.T) {
	needRights(t)
	before := Allowed(t)
	for name, c := range map[string]struct {
		set  func(t *testing.T)
		want bool
	}{
		"allowed":   {func(t *testing.T) { Allow(t, "cubic") }, true},
		"forbidden": {func(t *testing.T) { Forbid(t, "cubic") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.set(t)
			if now := Allowed(t); slices.Contains(now, "cubic") != c.want {
				t.Errorf("the list is %v", now)
			}
		})
		if after := Allowed(t); !slices.Equal(before, after) {
			t.Errorf("the list was %v and is %v", before, after)
		}
	}
}
