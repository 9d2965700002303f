package report

import (
	"io"
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

func TestACampaignOfTheControlAloneIsReported(t *testing.T) {
	in := withControl(10e9)
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[0].Value != "none" })
	test := build(t, in).test(t, "tcp")
	if test.Answer.Code != AnswerSingle || len(test.ControlRows) != 0 {
		t.Errorf("answer %s, %d control rows; want the figure of the only pattern", test.Answer.Code, len(test.ControlRows))
	}
}
