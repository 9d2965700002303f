package campaign_test

import (
	"slices"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
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

// trial is one of the level of a gateway, to an endpoint.
func trial(level, server string) *measure.Result {
	return &measure.Result{
		Test:    measure.TestTCP,
		Options: measure.Options{Direction: measure.Forward, Streams: 8},
		Trial: &measure.Trial{
			Levels: []measure.Level{{Factor: "gateway", Value: level}}, Pair: &measure.Pair{Server: measure.Endpoint{Name: server}},
		},
	}
}

func TestTheLimitOfAPatternIsTheSmallestOfWhatItGoesThrough(t *testing.T) {
	p := plans.Parse(t, limited+"limits: {goodput: 100 Mbit/s, rtt_p50: 1ms, source: contract}\n")
	of := func(level, server string) map[string]measure.Limit {
		out := map[string]measure.Limit{}
		for _, l := range p.LimitsOf(trial(level, server), catalog.Builtin()) {
			if _, larger := out[l.Metric]; !larger {
				out[l.Metric] = l
			}
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
		_, err := plan.Parse("plan.yaml", []byte(limited+text))
		if err == nil || !strings.Contains(err.Error()+measure.AsError(err, "").Hint, want) || !strings.HasPrefix(err.Error(), "plan.yaml:11:") {
			t.Errorf("%s: %v, want %q at line 11", strings.TrimSpace(text), err, want)
		}
	}
}

func TestTheControlIsASelectionOfPatterns(t *testing.T) {
	p := plans.Parse(t, limited+"control: {gateway: none}\n")
	var control []string
	for _, pt := range p.AllPatterns() {
		if p.IsControl(pt.Levels) {
			control = append(control, pt.Name)
		}
	}
	if len(control) != 1 || control[0] != "none" {
		t.Errorf("control %v, want [none]", control)
	}
	if plans.Parse(t, limited).IsControl([]measure.Level{{Factor: "gateway", Value: "none"}}) {
		t.Error("a plan without control has one")
	}
}

func TestHowFiguresAreJudgedMayChangeWhileACampaignRuns(t *testing.T) {
	changed := strings.Replace(limited, "12 Gbit/s", "10 Gbit/s", 1) + "practical: 5%\ncontrol: {gateway: none}\nlimits: {goodput: 1G}\n"
	in := new(journal.Memory)
	c, err := campaign.Create(in, plans.Parse(t, limited), 1, "test", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = campaign.Resume(in, c.ID(), plans.Parse(t, changed))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

const documented = `campaign: c
endpoints:
  vm: {address: 10.0.0.1, limits: {catalog: azure/Standard_DS5_v2}}
  office: {address: 10.0.0.2}
from: vm
to: office
factors:
  gateway:
    - {name: ultra, limits: {catalog: [azure/gateway/UltraPerformance, azure/circuit/1Gbps]}}
    - {name: none, before: ./none.sh}
tests: {bulk: {test: tcp}}
`

func TestALimitMayBeThatOfAComponentOfTheCatalog(t *testing.T) {
	p := plans.Parse(t, documented)
	of := func(level string, d measure.Direction, server *measure.Host) (values []float64, first measure.Limit) {
		r := trial(level, "office")
		r.Trial.Pair.Client.Name, r.Options.Direction, r.Hosts.Server = "vm", d, server
		limits := p.LimitsOf(r, catalog.Builtin())
		for _, l := range limits {
			values = append(values, l.Value)
		}
		return values, limits[0]
	}
	values, first := of("ultra", measure.Forward, nil)
	if !slices.Equal(values, []float64{1e9, 10e9, 12e9}) || first.Of != "gateway=ultra" || first.Component != "ExpressRoute circuit 1Gbps" ||
		!strings.HasPrefix(first.Source, "https://") || first.Date == "" {
		t.Errorf("%v, %+v", values, first)
	}
	if values, _ := of("ultra", measure.Reverse, nil); !slices.Equal(values, []float64{1e9, 10e9}) {
		t.Errorf("%v: what leaves the machine is not what it receives", values)
	}
	// A host without limits in the plan has those of the type that it says it is.
	d2 := &measure.Host{}
	d2.Facts.Cloud = &measure.Cloud{Provider: "azure", InstanceType: "Standard_D2s_v3"}
	if values, first := of("none", measure.Reverse, d2); !slices.Equal(values, []float64{1e9}) || first.Of != "office" || first.Component != "Azure VM Standard_D2s_v3" {
		t.Errorf("%v, %+v", values, first)
	}
}

func TestAComponentThatTheCatalogDoesNotHaveIsAnErrorButInARecordedPlan(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"azure/Standard_DS5_v2", "azure/Standard_DS5_v22"}: "plan.yaml:3:",
		{"azure/circuit/1Gbps", "azure/disk/P15"}:           "plan.yaml:9:",
	} {
		text := []byte(strings.Replace(documented, change[0], change[1], 1))
		if _, err := plan.Parse("plan.yaml", text); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), change[1]) {
			t.Errorf("%s: %v", change[1], err)
		}
		p, err := plan.ParseRecorded("plan.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if limits := p.LimitsOf(trial("none", "office"), catalog.Builtin()); len(limits) > 0 {
			t.Errorf("%s: %+v", change[1], limits)
		}
	}
}

func TestAPlanMayNameComponentsOfAnotherCatalog(t *testing.T) {
	own, err := catalog.Parse("own.yaml", []byte("tables: [{figure: goodput, source: s, date: 2026-01-01, limits: {office/line: 1G}}]"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(string) ([]byte, error) {
		return []byte(strings.Replace(documented, "azure/circuit/1Gbps", "office/line", 1)), nil
	}
	if _, err := plan.Load("plan.yaml", read); err == nil {
		t.Error("no error without it")
	}
	if _, err := plan.LoadWith("plan.yaml", read, func() (*catalog.Catalog, error) { return catalog.Builtin().Merge(own), nil }); err != nil {
		t.Error(err)
	}
}
