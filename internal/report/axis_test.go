package report

import (
	"io"
	"math"
	"strings"
	"testing"

	"soku/internal/text"
)

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
