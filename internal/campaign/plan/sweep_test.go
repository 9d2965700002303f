package plan_test

import (
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
)

func TestLevelsGoFromOneNumberToAnother(t *testing.T) {
	for factor, want := range map[string]string{
		"streams: {from: 1, to: 64, scale: log2}":                  "1; 2; 4; 8; 16; 32; 64",
		"streams: {from: 3, to: 50, scale: log2}":                  "3; 6; 12; 24; 48",
		"streams: {from: 1, to: 1000, scale: log10}":               "1; 10; 100; 1000",
		"streams: {from: 2, to: 11, scale: linear, step: 3}":       "2; 5; 8; 11",
		"streams: {from: 2, to: 10, step: 3}":                      "2; 5; 8",
		"streams: {from: 7, to: 7, scale: log2}":                   "7",
		"rate: {from: 1M, to: 10G, scale: log10}":                  "1M; 10M; 100M; 1G; 10G",
		"rate: {from: 500k, to: 2M, step: 500k}":                   "500k; 1M; 1500k; 2M",
		"window: {from: 64Ki, to: 1Mi, scale: log2}":               "64Ki; 128Ki; 256Ki; 512Ki; 1Mi",
		"window: {from: 1000, to: 1MB, scale: log10}":              "1k; 10k; 100k; 1M",
		"mss: {from: 536, to: 1460, step: 308}":                    "536; 844; 1152; 1460",
		"duration: {from: 1ms, to: 10s, scale: log10}":             "1ms; 10ms; 100ms; 1s; 10s",
		"duration: {from: 10, to: 60, step: 25s}":                  "10s; 35s; 60s",
		"duration: {from: 1500us, to: 6ms, scale: log2}":           "1500us; 3ms; 6ms",
		"parallel: {option: streams, from: 1, to: 4, scale: log2}": "1; 2; 4",
	} {
		if got := plans.PatternNames(plans.Parse(t, plans.Minimal+"factors: {"+factor+"}\n")); got != want {
			t.Errorf("%s: levels are %s, want %s", factor, got, want)
		}
	}
	latency := strings.Replace(plans.Minimal, "test: tcp, duration: 10s", "test: latency, count: 20", 1)
	for factor, want := range map[string]string{
		"request_rate: {from: 0.1, to: 0.5, step: 0.1}":      "0.1; 0.2; 0.3; 0.4; 0.5",
		"request_rate: {from: 1, to: 1000000, scale: log10}": "1; 10; 100; 1000; 10000; 100000; 1000000",
		"size: {from: 64, to: 64000, scale: log10}":          "64; 640; 6400; 64k",
	} {
		if got := plans.PatternNames(plans.Parse(t, latency+"factors: {"+factor+"}\n")); got != want {
			t.Errorf("%s: levels are %s, want %s", factor, got, want)
		}
	}
}

func TestNumericLevelsSetTheirOption(t *testing.T) {
	p := plans.Parse(t, plans.Minimal+`factors:
  rate: {from: 10M, to: 1G, scale: log10}
  window: {from: 64Ki, to: 256Ki, scale: log2}
  mss: {from: 1000, to: 1400, step: 400}
exclude: [{rate: [10M, 1G]}]
only: {window: 128Ki}
`)
	if n := len(p.AllPatterns()); n != 6 {
		t.Fatalf("%d patterns: %s", n, plans.PatternNames(p))
	}
	pt := p.AllPatterns()[3]
	if o := pt.Tests[0].Options; pt.Name != "100M / 128Ki / 1400" || o.Rate != 100e6 || o.Window != 128<<10 || tcp.OptionsOf(o).MSS != 1400 {
		t.Errorf("%s sets %+v", pt.Name, o)
	}
}

func TestErrorsOfNumericLevelsNameThePlace(t *testing.T) {
	for _, c := range []struct{ factor, want string }{
		{"streams: {from: 1, to: 64, scale: log3}", `p.yaml:5:45: factors.streams.scale: "log3" is no scale; did you mean log2?`},
		{"streams: {from: 1, to: 64, scale: cubic}", `"cubic" is no scale; scales are linear, log2, log10`},
		{"streams: {from: 1, to: 64, scael: log2}", `p.yaml:5:38: factors.streams: unknown key "scael"; did you mean scale?`},
		{"streams: {from: 1, to: 64}", "p.yaml:5:11: factors.streams: how the levels follow each other is missing; add step:, or scale: with one of linear, log2, log10"},
		{"streams: {from: 1, scale: log2}", "p.yaml:5:11: factors.streams: levels that are numbers need a first and a last one; write for example {from: 1, to: 64, scale: log2}"},
		{"streams: {from: 1, to: 64, scale: linear}", "p.yaml:5:45: factors.streams.scale: scale: linear needs a step"},
		{"streams: {from: 1, to: 64, scale: log2, step: 2}", "p.yaml:5:57: factors.streams.step: scale: log2 has no step"},
		{"streams: {from: 1, to: 64, step: 0}", "factors.streams.step: a step of 0 leads nowhere"},
		{"streams: {from: 1, to: 64, step: -1}", "factors.streams.step: a step of -1 leads nowhere"},
		{"rate: {from: 0, to: 1G, scale: log10}", "factors.rate.from: scale: log10 cannot begin with 0"},
		{"streams: {from: 64, to: 1, scale: log2}", "factors.streams.to: the last level 1 is below the first, 64"},
		{"streams: {from: 1, to: 2000, scale: log2}", "p.yaml:5:34: factors.streams.to: option streams: streams 2000: out of range; allowed: 1..1024"},
		{"streams: {from: 0, to: 20, step: 1}", "factors.streams.from: option streams: streams 0: out of range"},
		{"streams: {from: one, to: 20, step: 1}", `factors.streams.from: option streams: expected a whole number, found "one"`},
		{"rate: {from: 1M, to: 1G, step: 1parsec}", `factors.rate.step: option rate: rate "1parsec": unknown unit`},
		{"streams: {from: 1, to: 1024, step: 1}", "p.yaml:5:11: factors.streams: that is 1024 levels; at most 1000 are run; a larger step, or scale: log2 or log10"},
		{"bytes: {from: 1, to: 9000000T, step: 1}", "that is 9000000000000000000 levels"},
		{"streams: {from: 1, to: 8, scale: log2, levels: [1]}", "factors.streams.levels: levels and from: exclude each other"},
		{"stream: {from: 1, to: 8, scale: log2}", `p.yaml:5:11: factors.stream: factor "stream" has numbers as levels, and is no option; did you mean streams?`},
		{"load: {option: streem, from: 1, to: 8, scale: log2}", `p.yaml:5:26: factors.load.option: there is no option "streem"; did you mean streams?`},
		{"congestion: {from: 1, to: 8, scale: log2}", "p.yaml:5:11: factors.congestion: option congestion is no number"},
		{"size: {from: 64, to: 128, scale: log2}", "size applies to none of the plan's tests"},
	} {
		_, err := plan.Parse("p.yaml", []byte(plans.Minimal+"factors: {"+c.factor+"}\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s: error is %v\nwant     %s", c.factor, err, c.want)
		}
	}
}
