package campaign_test

import (
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

const limited = `campaign: c
endpoints:
  vm: {address: 10.0.0.1, limits: {goodput: 12 Gbit/s, source: machine page}}
  bare: {address: 10.0.0.2}
factors:
  gateway:
    - {name: basic, to: vm, limits: {goodput: 1G, rtt_p99: 5 ms, source: gateway page}}
    - {name: none, to: bare}
    - {name: large, to: vm, limits: {goodput_bps: 40G}}
tests: {bulk: {test: tcp}, rtt: {test: latency}}
`

func TestTheLimitOfAPatternIsTheSmallestOfWhatItGoesThrough(t *testing.T) {
	p := parse(t, limited+"limits: {goodput: 100 Mbit/s, rtt_p50: 1ms, source: contract}\n")
	of := func(level, server string) map[string]measure.Limit {
		out := map[string]measure.Limit{}
		for _, l := range p.LimitsOf([]measure.Level{{Factor: "gateway", Value: level}}, "", server) {
			if _, twice := out[l.Metric]; twice {
				t.Errorf("%s: two limits of %s", level, l.Metric)
			}
			out[l.Metric] = l
		}
		return out
	}
	for level, want := range map[string]measure.Limit{
		"basic": {Metric: "goodput_bps", Value: 1e9, Of: "gateway=basic", Source: "gateway page"},
		"large": {Metric: "goodput_bps", Value: 12e9, Of: "vm", Source: "machine page"},
	} {
		if got := of(level, "vm")["goodput_bps"]; got != want {
			t.Errorf("%s: %+v, want %+v", level, got, want)
		}
	}
	if got := of("none", "bare")["goodput_bps"]; got.Value != 100e6 || got.Of != "" {
		t.Errorf("without a limit of its own: %+v, want the plan's", got)
	}
	if got := of("basic", "vm"); got["rtt_p99_ns"].Value != 5e6 || got["rtt_p50_ns"].Value != 1e6 {
		t.Errorf("other figures: %+v", got)
	}
}

func TestLimitsControlAndPracticalAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"limits: {gootput: 1G}\n":                                "goodput",
		"limits: {goodput: 1 parsec}\n":                          "limits.goodput",
		"limits: {goodput: 0}\n":                                 "above 0",
		"limits: {source: nobody}\n":                             "no figure",
		"limits: {path_mtu: 1500}\n":                             "path_mtu",
		"control: {gatewy: none}\n":                              "gateway",
		"control: {gateway: [basic, none, large]}\n":             "none is left",
		"control: {gateway: none}\nexclude: [{gateway: none}]\n": "control",
		"practical: 3\n":                                         "percent",
		"practical: 0%\n":                                        "percent",
		"practical: 200%\n":                                      "percent",
	} {
		_, err := campaign.Parse("plan.yaml", []byte(limited+text))
		if err == nil || !strings.Contains(err.Error()+measure.AsError(err, "").Hint, want) || !strings.HasPrefix(err.Error(), "plan.yaml:11:") {
			t.Errorf("%s: %v, want %q at line 11", strings.TrimSpace(text), err, want)
		}
	}
}

func TestTheControlIsASelectionOfPatterns(t *testing.T) {
	p := parse(t, limited+"control: {gateway: none}\n")
	var control []string
	for _, pt := range p.AllPatterns() {
		if p.IsControl(pt.Levels) {
			control = append(control, pt.Name)
		}
	}
	if len(control) != 1 || control[0] != "none" {
		t.Errorf("control %v, want [none]", control)
	}
	if parse(t, limited).IsControl([]measure.Level{{Factor: "gateway", Value: "none"}}) {
		t.Error("a plan without control has one")
	}
}

func TestHowFiguresAreJudgedMayChangeWhileACampaignRuns(t *testing.T) {
	changed := strings.Replace(limited, "12 Gbit/s", "10 Gbit/s", 1) + "practical: 5%\ncontrol: {gateway: none}\nlimits: {goodput: 1G}\n"
	in := new(campaign.Memory)
	c, err := campaign.Create(in, parse(t, limited), 1, "test", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = campaign.Resume(in, c.ID(), parse(t, changed))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
