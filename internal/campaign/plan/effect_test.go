package plan_test

import (
	"reflect"
	"testing"

	"soku/internal/campaign/plan"
)

func TestAFactorVariesOnlyTheTestsThatItSetsSomethingIn(t *testing.T) {
	for name, c := range map[string]struct {
		factor, before string
		want           map[string][]string
	}{
		"an option of one test":       {factor: "streams: [1, 16]", want: map[string][]string{"rtt": {"streams"}}},
		"an option of each":           {factor: "mix: [{name: a, options: {streams: 2}}, {name: b, options: {request_rate: 9}}]", want: map[string][]string{}},
		"one level sets the other":    {factor: "mix: [{name: a, options: {streams: 2}}, plain]", want: map[string][]string{"rtt": {"mix"}}},
		"a command of a level":        {factor: "mix: [{name: a, options: {streams: 2}, before: ./on}, {name: b, after: ./off}]", want: map[string][]string{}},
		"another server":              {factor: "mix: [{name: a, options: {streams: 2}, to: vm.other}, plain]", want: map[string][]string{}},
		"the plan's command":          {factor: "streams: [1, 16]", before: "tune $SOKU_FACTOR_STREAMS", want: map[string][]string{}},
		"a command that is unrelated": {factor: "streams: [1, 16]", before: "sync", want: map[string][]string{"rtt": {"streams"}}},
		"a person":                    {factor: "streams: {by: hand, levels: [1, 16]}", want: map[string][]string{}},
		"one level":                   {factor: "streams: [16]", want: map[string][]string{}},
	} {
		text := "campaign: c\nendpoints: {vm: {address: 10.0.0.4, addresses: {other: 10.0.0.5}}}\nto: vm\ntests: {up: {test: tcp}, rtt: {test: latency, count: 20}}\nfactors: {" + c.factor + "}\n"
		if c.before != "" {
			text += "before: " + c.before + "\n"
		}
		p, err := plan.Parse("plan.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := p.Unvaried(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
