package report

import (
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// withControl is two gateways with two numbers of tunnels, and the hosts without a gateway.
func withControl(hosts float64) Input {
	speed := map[string]float64{"none": hosts, "basic": 1e9, "high": 2e9}
	in := design{
		factors: []string{"gateway", "tunnels"}, levels: [][]string{{"none", "basic", "high"}, {"1", "4"}}, rounds: 6, noise: 0.002,
		bps: func(l []string) float64 { return speed[l[0]] },
	}.input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		return r.Trial.Levels[0].Value == "none" && r.Trial.Levels[1].Value == "4"
	})
	in.Design.Control = func(levels []measure.Level) bool { return levels[0].Value == "none" }
	return in
}

func TestTheControlIsShownApart(t *testing.T) {
	r := build(t, withControl(10e9))
	test := r.test(t, "tcp")
	if len(test.ControlRows) != 1 || len(test.Rows) != 4 || len(test.Ranking) != 4 {
		t.Fatalf("%d control rows, %d rows, %d places; want 1, 4, 4", len(test.ControlRows), len(test.Rows), len(test.Ranking))
	}
	for _, p := range test.Ranking {
		if strings.Contains(p.Pattern, "none") {
			t.Errorf("the control is ranked: %+v", p)
		}
	}
	for _, e := range test.Effects {
		if e.A == "none" || e.B == "none" {
			t.Errorf("the control is in an effect: %+v", e)
		}
	}
	for form, out := range map[string]string{"text": written(t, func(w io.Writer) error { return r.Text(w, text.English(), 100) }), "markdown": written(t, inEnglish(r.Markdown)), "html": written(t, inEnglish(r.HTML))} {
		if !strings.Contains(strings.ToLower(out), "control, not ranked") || !strings.Contains(out, "the hosts are not the limit") {
			t.Errorf("%s does not show the control", form)
		}
	}
}

func TestTheControlShowsWhetherTheHostsMayBeTheLimit(t *testing.T) {
	for hosts, want := range map[float64]struct {
		decision stats.Decision
		sentence string
	}{
		10e9: {stats.Better, "5.0 × that of high / 1: the hosts are not the limit."},
		2e9:  {stats.Same, "no practical difference: the hosts may be the limit."},
		1e9:  {stats.Worse, "the hosts alone are slower"},
	} {
		test := build(t, withControl(hosts)).test(t, "tcp")
		said := strings.Join(testView{test, text.English()}.controls(), "\n")
		if len(test.Controls) != 1 || test.Controls[0].Decision != want.decision || !strings.HasPrefix(test.Controls[0].Best, "high") {
			t.Errorf("%v: %+v, want %s", hosts, test.Controls, want.decision)
		}
		if !strings.Contains(strings.ReplaceAll(said, "high / 4", "high / 1"), want.sentence) {
			t.Errorf("%v: %q, want %q", hosts, said, want.sentence)
		}
	}
}

func TestControlPatternsThatShowTheSameAreOneSentence(t *testing.T) {
	d := design{
		factors: []string{"gateway", "tunnels"}, levels: [][]string{{"none", "basic"}, {"1", "4"}}, rounds: 6, noise: 0.002,
		bps: func(l []string) float64 {
			switch l[0] + l[1] {
			case "none1":
				return 10e9
			case "none4":
				return 20e9
			}
			return 1e9
		},
	}
	in := d.input()
	in.Design.Control = func(levels []measure.Level) bool { return levels[0].Value == "none" }
	r := build(t, in)
	v := english(r.test(t, "tcp"))
	said := v.controls()
	if len(said) != 1 || !strings.HasPrefix(said[0], "Control, 2 patterns: goodput ") || !strings.Contains(said[0], ", 10 to 20 × that of basic / ") || !strings.HasSuffix(said[0], ": the hosts are not the limit.") {
		t.Errorf("%q", said)
	}
	table := v.controlTable()
	last := len(table.Columns) - 1
	if table.Columns[last-1].Name != "× best" || !strings.HasPrefix(texts(table)[0][last-1], "9.9") && !strings.HasPrefix(texts(table)[0][last-1], "10.") || !strings.Contains(texts(table)[1][last], " to 2") {
		t.Errorf("%+v", table)
	}
	// One of them that shows something else has its own sentence.
	d.bps = func(l []string) float64 {
		if l[0]+l[1] == "none4" {
			return 20e9
		}
		return 1e9
	}
	in = d.input()
	in.Design.Control = func(levels []measure.Level) bool { return levels[0].Value == "none" }
	if said := english(build(t, in).test(t, "tcp")).controls(); len(said) != 2 || !strings.HasPrefix(said[0], "Control none / 1: ") || !strings.HasPrefix(said[1], "Control none / 4: ") {
		t.Errorf("%q", said)
	}
}

// withoutCharts is the text of a page; a chart's description has the answer, too.
func withoutCharts(page string) string {
	return html.UnescapeString(regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(page, ""))
}

func TestAPageOfOneTestSaysItsAnswerOnce(t *testing.T) {
	one := build(t, withControl(10e9))
	alone := withoutCharts(written(t, inEnglish(one.HTML)))
	for _, s := range english(&one.Tests[0]).sentences() {
		if n := strings.Count(alone, s); n != 1 {
			t.Errorf("%d times: %s", n, s)
		}
	}
	two := withControl(10e9)
	for _, r := range two.Results[:len(two.Results):len(two.Results)] {
		other := *r
		trial := *r.Trial
		trial.Label, other.ID, other.Trial = "again", "again-"+r.ID, &trial
		two.Results = append(two.Results, &other)
	}
	r := build(t, two)
	// The head has the headlines of both tests, and the second one has its own once more: that of the
	// first follows the head.
	page := withoutCharts(written(t, inEnglish(r.HTML)))
	for i := range r.Tests {
		for k, s := range english(&r.Tests[i]).sentences() {
			if n, want := strings.Count(page, s), map[bool]int{true: 3, false: 2}[k == 0]; n != want {
				t.Errorf("%d times, want %d, in a page of two tests that are alike: %s", n, want, s)
			}
		}
	}
}

func TestACampaignOfTheControlAloneIsReported(t *testing.T) {
	in := withControl(10e9)
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[0].Value != "none" })
	test := build(t, in).test(t, "tcp")
	if test.Answer.Code != AnswerSingle || len(test.ControlRows) != 0 {
		t.Errorf("answer %s, %d control rows; want the figure of the only pattern", test.Answer.Code, len(test.ControlRows))
	}
}
