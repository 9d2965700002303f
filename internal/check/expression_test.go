package check

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

func TestChecksAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Expression{
		"goodput >= 900 Mbit/s":                 {Form: Threshold, Metric: metric.Goodput, AtLeast: true, Value: 900e6, Level: 0.95},
		"goodput_bps>=0.9G":                     {Form: Threshold, Metric: metric.Goodput, AtLeast: true, Value: 900e6, Level: 0.95},
		"rtt_p99 <= 5ms at 99 %":                {Form: Threshold, Metric: metric.RTTP99, Value: 5e6, Level: 0.99},
		"rtt_p99  <=  48.5 µs   at 97.5%":       {Form: Threshold, Metric: metric.RTTP99, Value: 48.5e3, Level: 0.975},
		"rtt_loss <= 0.1 %":                     {Form: Threshold, Metric: metric.RTTLoss, Value: 0.001, Level: 0.95},
		"rtt_loss_ratio <= 0.001":               {Form: Threshold, Metric: metric.RTTLoss, Value: 0.001, Level: 0.95},
		"path_mtu >= 1500":                      {Form: Threshold, Metric: metric.ByKey("path_mtu_bytes"), AtLeast: true, Value: 1500, Level: 0.95},
		"connections_per_second >= 5000":        {Form: Threshold, Metric: metric.Connections, AtLeast: true, Value: 5000, Level: 0.95},
		"goodput >= 90 % of limit at 90 %":      {Form: OfLimit, Metric: metric.Goodput, AtLeast: true, Value: 0.9, Level: 0.9},
		"cpu <= 0.25":                           {Form: Threshold, Metric: metric.ByKey("cpu_seconds_per_gb"), Value: 0.25, Level: 0.95},
		"interval of goodput <= 3 %":            {Form: Width, Metric: metric.Goodput, Value: 0.03, Level: 0.95},
		"failed <= 0 %":                         {Form: Failures, Value: 0, Level: 0.95},
		"no worse than before by 3%":            {Form: NoWorse, Baseline: "before", Value: 0.03, Level: 0.95},
		"goodput no worse than before":          {Form: NoWorse, Metric: metric.Goodput, Baseline: "before", Practical: true, Level: 0.95},
		"better than gw:sku=a":                  {Form: BetterThan, Baseline: "gw:sku=a", Value: 0, Level: 0.95},
		`same as "my file.json" within 5 %`:     {Form: SameAs, Baseline: "my file.json", Value: 0.05, Level: 0.95},
		"rtt_p50 better than :a=b by 5% at 90%": {Form: BetterThan, Metric: metric.RTTP50, Baseline: ":a=b", Value: 0.05, Level: 0.9},
	} {
		var got Expression
		if err := got.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.Text = strings.Join(strings.Fields(text), " ")
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestMistakesInChecksAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"goodput":                            "is not a check",
		"goodput > 1G":                       `">" compares nothing here; write >= or <=`,
		"goodput == 1G":                      `"==" compares nothing`,
		"goodputt >= 1G":                     "did you mean goodput",
		"goodput >= 900":                     "write for example 900 Mbit/s",
		"goodput >= fast":                    "is not a threshold of goodput_bps",
		"goodput >= 90 of limit":             "not a share in percent",
		"rtt_p99 <= 5":                       "write for example 5 ms",
		"rtt_p99 <= -5ms":                    "is not a threshold",
		"connections_per_second >= 1e99":     "is not a threshold",
		"goodput >= 1G at 100 %":             "no confidence level",
		"goodput >= 1G at 50 %":              "no confidence level",
		"goodput >= 1G at 9.9.9 %":           "no confidence level",
		"interval of goodput >= 3 %":         "has no lower threshold",
		"interval of goodput <= 3":           "not a share in percent",
		"failed >= 3 %":                      "has no lower threshold",
		"goodput no worse than x within 3 %": "is not a check",
		"same as x by 3 %":                   "is not a check",
		"no worse than x by 100 %":           "not a share in percent",
		"retransmits no worse than x":        "",
		"packets better than x":              "",
		"rtt_count better than x":            "neither more nor less of rtt_count is better",
		"no worse than":                      "is not a check",
		strings.Repeat("x", 600):             "more than 500 characters",
	} {
		e := Expression{Text: "before"}
		err := e.Set(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || e.Text != "before"):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestMistakesInRulesAreNamedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "r.yaml:1:1: ",
		"rules: []":                          "r.yaml:1:8: there are no rules",
		"rules:\n  - name: x":                "r.yaml:2:5: the rule has no check",
		"rules:\n  - check: goodput > 1G":    `r.yaml:2:12: rules.1.check: ">" compares nothing`,
		"rules:\n  - chekc: goodput >= 1G":   "r.yaml:2:5: rules.1: unknown key",
		"rules:\n  - check: [goodput >= 1G]": "r.yaml:2:12: ",
		"rules:\n  - {check: failed <= 0 %, where: high}": "r.yaml:2:35: ",
	} {
		_, err := Parse("r.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzRules: rules that are read can be read again from their texts, and mistakes are errors
// of kind file with a place.
func FuzzRules(f *testing.F) {
	f.Add("rules:\n  - {name: x, test: up, where: {sku: [a, b]}, check: goodput >= 90 Mbit/s at 99 %}\n")
	f.Add("rules:\n  - check: rtt_p99 <= 5 ms\n  - check: interval of goodput <= 3 %\n  - check: failed <= 0 %\n")
	f.Add("rules: [{check: 'no worse than \"a b\" by 3 %'}, {check: same as x within 3%}, {check: goodput better than :a=b}]")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse("r.yaml", []byte(text))
		if err != nil {
			if measure.KindOf(err) != measure.KindFile || !strings.HasPrefix(err.Error(), "r.yaml:") {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, rule := range r.Rules {
			var again Expression
			if err := again.Set(rule.Check.Text); err != nil || again != rule.Check {
				t.Fatalf("%q: %v; %+v, want %+v", rule.Check.Text, err, again, rule.Check)
			}
			if e := rule.Check; !(e.Level > 0.5 && e.Level < 1) || !(e.Value >= 0) || (e.Metric == nil) && (e.Form == Threshold || e.Form == Width) {
				t.Fatalf("%+v", e)
			}
		}
	})
}
