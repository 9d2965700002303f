package native

import (
	"slices"
	"testing"
)

// The server reports late what the client has found by itself.
func TestACutIsThatOfTheConnectionOfItsAttempt(t *testing.T) {
	var r reopens
	r.cut(0, 0) // nobody watches
	var lost []int
	stop := r.watch(func(index int) { lost = append(lost, index) })
	r.cut(1, 0)
	r.opened(1, 7)
	r.cut(1, 0)
	r.cut(1, 6)
	r.cut(2, 0)
	r.cut(1, 7)
	stop()
	r.cut(1, 8)
	if want := []int{1, 2, 1}; !slices.Equal(lost, want) {
		t.Errorf("cut are %v, want %v", lost, want)
	}
}
