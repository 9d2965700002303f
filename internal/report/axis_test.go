package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"soku/internal/report/outline"
	"soku/internal/text"
)

func TestLinearAxesBeginAtZeroUnlessFiguresAreClose(t *testing.T) {
	a := linearAxis(300, 960, 0, 100, 6)
	if a.low != 0 || a.high < 960 || a.marks[0].at != 0 {
		t.Errorf("%+v", a)
	}
	a = linearAxis(940, 960, 0, 100, 6)
	if a.low < 900 || a.low > 940 || len(a.marks) < 3 {
		t.Errorf("%+v", a)
	}
}

func TestAxesHoldTheirFiguresWithFewTicks(t *testing.T) {
	check := func(x, y float64) bool {
		low, high := math.Abs(math.Mod(x, 1e12)), math.Abs(math.Mod(y, 1e12))
		low, high = min(low, high), max(low, high)
		linear, log := linearAxis(low, high, 0, 100, 5), logAxis(low+1, high+1, 0, 100, 7)
		return linear.low <= low && linear.high >= high && len(linear.marks) >= 2 && len(linear.marks) <= 9 &&
			log.low <= low+1 && log.high >= high+1 && len(log.marks) >= 1 && len(log.marks) <= 7 &&
			slices.IsSortedFunc(log.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}

func TestAnIntervalBeyondTheAxisHasAnArrowAndItsBounds(t *testing.T) {
	arrows := func(rounds map[string][]float64) (n int, page string) {
		r := build(t, campaignOf(rounds))
		for _, l := range english(&r.Tests[0]).stripFigure("x").Charts[0].Lines {
			if l.Class == "cut" {
				n++
			}
		}
		return n, written(t, func(w io.Writer) error { return r.HTML(w, text.English()) })
	}
	n, page := arrows(map[string][]float64{"wide": {100e6, 40e6}, "narrow": {100e6, 100.1e6, 99.9e6}})
	if n != 1 { // its other end is 0, where the axis begins
		t.Errorf("%d arrows", n)
	}
	for _, want := range []string{"wide: 95 % interval 0.000 bit/s to 431.4 Mbit/s", "63.25 Mbit/s (0.000 bit/s to 431.4 Mbit/s)", "An arrow: the interval goes on beyond the axis."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n, _ = arrows(map[string][]float64{"wide": {100e6, 101e6}, "narrow": {100e6, 100.1e6, 99.9e6}}); n != 2 {
		t.Errorf("%d arrows where the axis does not begin at 0", n)
	}
	n, page = arrows(map[string][]float64{"a": {100e6, 100.1e6, 99.9e6}, "b": {50e6, 51e6, 50e6}})
	if n != 0 || strings.Contains(page, "An arrow:") {
		t.Errorf("%d arrows where the intervals are on the axis", n)
	}
}

func TestAFigureOutsideAnAxisStaysOnItsEdge(t *testing.T) {
	a := axis{low: 10, high: 20, from: 0, to: 100}
	for v, want := range map[float64]float64{5: 0, 10: 0, 15: 50, 20: 100, 1e9: 100} {
		if got := a.at(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v", v, got)
		}
	}
}

func TestColumnsShareAUnitInWhichTheSmallestIsAtLeastOne(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    string
	}{{[]float64{9e9, 12e9}, "Gbit/s"}, {[]float64{9e9, 400e6}, "Mbit/s"}, {[]float64{0, 2e6}, "Mbit/s"}, {nil, "bit/s"}, {[]float64{999.99e6}, "Gbit/s"}} {
		if got := scaleFor(rateScales, c.figures...).unit; got != c.want {
			t.Errorf("%v are in %s, want %s", c.figures, got, c.want)
		}
	}
}

func TestDigitsAreSignificant(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234.56: "1235", 123456: "123456", 1.23456: "1.235", 0.0123456: "0.01235", 99.996: "100.00", math.NaN(): "–"} {
		if got := text.Significant(4, v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestLabelsOfAnAxisDoNotTouch(t *testing.T) {
	ticks := anchors([]outline.Tick{{At: 0, Text: "0"}, {At: 5, Text: "50"}, {At: 40, Text: "90"}, {At: 98, Text: "99.999"}}, 100)
	if ticks[1].Text != "" || ticks[2].Text != "90" || ticks[3].Anchor != "end" || ticks[0].Anchor != "start" {
		t.Errorf("%+v", ticks)
	}
}
