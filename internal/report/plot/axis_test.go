package plot

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"testing/quick"

	"soku/internal/report/outline"
)

func TestLinearAxesBeginAtZeroUnlessFiguresAreClose(t *testing.T) {
	a := Linear(300, 960, 0, 100, 6)
	if a.Low != 0 || a.High < 960 || a.Marks[0].At != 0 {
		t.Errorf("%+v", a)
	}
	a = Linear(940, 960, 0, 100, 6)
	if a.Low < 900 || a.Low > 940 || len(a.Marks) < 3 {
		t.Errorf("%+v", a)
	}
}

func TestAxesHoldTheirFiguresWithFewTicks(t *testing.T) {
	check := func(x, y float64) bool {
		low, high := math.Abs(math.Mod(x, 1e12)), math.Abs(math.Mod(y, 1e12))
		low, high = min(low, high), max(low, high)
		linear, log := Linear(low, high, 0, 100, 5), Log(low+1, high+1, 0, 100, 7)
		return linear.Low <= low && linear.High >= high && len(linear.Marks) >= 2 && len(linear.Marks) <= 9 &&
			log.Low <= low+1 && log.High >= high+1 && len(log.Marks) >= 1 && len(log.Marks) <= 7 &&
			slices.IsSortedFunc(log.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}

func TestAFigureOutsideAnAxisStaysOnItsEdge(t *testing.T) {
	a := Axis{Low: 10, High: 20, From: 0, To: 100}
	for v, want := range map[float64]float64{5: 0, 10: 0, 15: 50, 20: 100, 1e9: 100} {
		if got := a.At(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v", v, got)
		}
	}
}

func TestLabelsOfAnAxisDoNotTouch(t *testing.T) {
	ticks := anchors([]outline.Tick{{At: 0, Text: "0"}, {At: 5, Text: "50"}, {At: 40, Text: "90"}, {At: 98, Text: "99.999"}}, 100)
	if ticks[1].Text != "" || ticks[2].Text != "90" || ticks[3].Anchor != "end" || ticks[0].Anchor != "start" {
		t.Errorf("%+v", ticks)
	}
}
