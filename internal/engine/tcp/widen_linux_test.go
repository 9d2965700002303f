package tcp

import (
	"slices"
	"testing"
	"time"
)

// window is that of a stream with this minimum round trip time.
type window struct {
	trip  time.Duration
	asked []int64
}

func (w *window) RoundTrip(int) time.Duration { return w.trip }
func (w *window) Widen(_ int, n int64)        { w.asked = append(w.asked, n) }

func TestAWindowHoldsSeveralOfTheLargestPasses(t *testing.T) {
	for name, c := range map[string]struct {
		trip time.Duration
		want []int64
	}{
		"near":            {50 * time.Microsecond, []int64{4 * 64 << 10, 4 * 128 << 10, 4 * 1 << 20}},
		"distant":         {20 * time.Millisecond, nil},
		"nobody knows it": {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := window{trip: c.trip}
			w := newWidening(1)
			for _, n := range []int{47 << 10, 60 << 10, 95 << 10, 1 << 10, 1<<20 - 1, 800 << 10} {
				w.after(n, 0, &in)
			}
			if !slices.Equal(in.asked, c.want) {
				t.Errorf("asked for %d, want %d", in.asked, c.want)
			}
		})
	}
}
