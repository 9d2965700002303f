package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"soku/internal/measure"
	"soku/test/chromium"
)

// numbered are n levels.
func numbered(name string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(name, i+1))
	}
	return out
}

// shown writes rows as "row: mark=hue mark=hue".
func shown(a answerFigures) (out []string) {
	for _, r := range a.rows {
		s := r.name + ":"
		for _, m := range r.marks {
			s += fmt.Sprintf(" %s=%d", m.name, m.hue)
		}
		out = append(out, s)
	}
	return out
}

func TestTheAnswerChartHasTheLevelsOfTheAskedFactorAsMarks(t *testing.T) {
	rate := func(l []string) float64 { return 100e6 + 50e6*float64(len(l[0])) }
	for name, c := range map[string]struct {
		design
		question, factor string
		rows             []string
	}{
		"two factors": {design{factors: []string{"sku", "zone"}, levels: [][]string{{"a", "bbb"}, {"1", "2"}}, bps: rate}, "", "sku", []string{"zone 1: a=0 bbb=1", "zone 2: a=0 bbb=1"}},
		"the question of the plan": {
			design{factors: []string{"sku", "zone"}, levels: [][]string{{"a", "bbb"}, {"1", "2"}}, bps: rate}, "zone", "zone", []string{"a: 1=0 2=1", "bbb: 1=0 2=1"},
		},
		"one factor": {design{factors: []string{"sku"}, levels: [][]string{{"a", "bbb", "cc"}}, bps: rate}, "", "", []string{"a: =0", "bbb: =1", "cc: =2"}},
		"the asked factor has too many levels": {
			design{factors: []string{"interface", "type"}, levels: [][]string{{"x", "y"}, numbered("t", 9)}, bps: func(l []string) float64 { return 1e8 * float64(len(l[1])) }}, "type", "interface",
			[]string{"t1: x=0 y=1", "t2: x=0 y=1", "t3: x=0 y=1", "t4: x=0 y=1", "t5: x=0 y=1", "t6: x=0 y=1", "t7: x=0 y=1", "t8: x=0 y=1", "t9: x=0 y=1"},
		},
		"the curve shows it": {streamSweep("1"), "", "", nil},
	} {
		c.rounds, c.noise = 3, 0.01
		in := c.input()
		in.Design.Question = c.question
		test := english(build(t, in).test(t, "tcp"))
		a := test.answerRows()
		if got := shown(a); a.factor != c.factor || !slices.Equal(got, c.rows) {
			t.Errorf("%s: marks of %q in %q, want %q in %q", name, a.factor, got, c.factor, c.rows)
		}
		for _, r := range a.rows {
			for _, m := range r.marks {
				if p := test.place(m.pattern); m.estimate != *p.Estimate || m.low != p.Low || m.high != p.High || m.limit != nil {
					t.Errorf("%s: %s: %+v, want %+v", name, m.pattern, m, p)
				}
			}
		}
	}
}

func TestTheAnswerChartHasTheLimitOfEachPattern(t *testing.T) {
	test := english(build(t, streamsOverGateways()).test(t, "tcp"))
	for _, r := range test.answerRows().rows {
		for _, m := range r.marks {
			want := map[string]float64{"standard": 1e9, "ultra": 10e9}[m.name]
			if m.limit == nil || *m.limit != want {
				t.Errorf("%s: %v, want %v", m.pattern, m.limit, want)
			}
		}
	}
	f := test.answerFigure("x")
	limits := 0
	for _, l := range f.Charts[0].Lines {
		if l.Class == "limit" {
			limits++
		}
	}
	if len(f.Charts) != 2 || limits != 4 || !strings.Contains(f.Caption, "dashed stroke") {
		t.Errorf("%d charts with %d limits: %s", len(f.Charts), limits, f.Caption)
	}
	if texts := fmt.Sprint(f.Charts[0].Texts); !strings.Contains(texts, "higher is better") {
		t.Errorf("the chart has the texts %s", texts)
	}
}

func TestTheAnswerChartHasThirtyRowsAtMost(t *testing.T) {
	d := design{factors: []string{"sku", "zone", "size"}, levels: [][]string{{"a", "bb"}, numbered("z", 8), numbered("s", 8)}, rounds: 2, noise: 0.001, bps: func(l []string) float64 {
		return 1e8*float64(len(l[0])) + 3e7*float64(l[2][1]-'0') + 1e6*float64(l[1][1]-'0')
	}}
	in := d.input()
	in.Design.Question = "sku"
	test := english(build(t, in).test(t, "tcp"))
	a := test.answerRows()
	if len(a.rows) != 8 || a.of != "size" || a.factor != "sku" || a.rows[7].name != "s8" || a.rows[7].marks[1].pattern != "bb / z8 / s8" {
		t.Errorf("%+v", a)
	}
	alone := design{factors: []string{"size"}, levels: [][]string{numbered("s", 40)}, rounds: 1, bps: func([]string) float64 { return 1e8 }}
	a = english(build(t, alone.input()).test(t, "tcp")).answerRows()
	if len(a.rows) != bestPictured+lastPictured || a.all != 40 || a.rows[19].name != "s20" || a.rows[20].name != "s31" || a.rows[29].marks[0].hue != 0 {
		t.Errorf("%d of %d rows: %+v", len(a.rows), a.all, a.rows)
	}
}

func TestTextsOfTheAnswerCoverNothingInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	in := tunnels(3).input()
	for _, r := range in.Results {
		r.Trial.Levels[0].Value = r.Trial.Levels[0].Value + " " + "ゲートウェイ"
	}
	in.Design.Limits = func(r *measure.Result) []measure.Limit {
		return []measure.Limit{{Metric: "goodput_bps", Value: 1e8 * float64(len(r.Trial.Levels[0].Value))}}
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, in).HTML))), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{360, 1200} {
		show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, Mobile: width < 500}, emulation.SetEmulatedMediaParams{})
		for _, c := range checksOfWidths {
			check(ctx, t, c, fmt.Sprintf("%d pixels", width))
		}
	}
}
