package plan_test

import (
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/test/plans"
)

// A plan may have more levels than it had, and what these need. Other changes are refused.
func TestAPlanWithMoreLevelsMeasuresWhatItMeasured(t *testing.T) {
	const study = `campaign: study
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
to: a
factors:
  sku: [{name: small, options: {dscp: 8}}, {name: large, options: {dscp: 10}}]
  zone: [{name: z1, to: a}, {name: z2, to: b, when: {sku: [large]}}]
exclude: [{sku: [small], zone: [z2]}]
tests: {up: {test: tcp, duration: 1s}}
`
	const mesh = "campaign: study\nendpoints: {a: {ssh: a}, b: {ssh: b}}\npairs: {mesh: ['*']}\nfactors: {streams: [1, 2]}\ntests: {up: {test: tcp}}\n"
	const search = "campaign: study\nendpoints: {a: {address: 10.0.0.1}}\nto: a\nfind: {option: streams, from: 1, to: 8}\nfactors: {dscp: [8, 10]}\ntests: {up: {test: tcp}}\n"
	huge := []string{"dscp: 10}}]", "dscp: 10}}, {name: huge, options: {dscp: 12}}]"}
	for name, c := range map[string]struct {
		text    string
		edits   []string
		changed string
	}{
		"a level":                             {study, huge, ""},
		"a level between others":              {study, []string{"{name: large, o", "{name: mid, options: {dscp: 9}}, {name: large, o"}, ""},
		"a level with its endpoint":           {study, []string{"10.0.0.2}}", "10.0.0.2}, c: {address: 10.0.0.3}}", "when: {sku: [large]}}]", "when: {sku: [large]}}, {name: z3, to: c}]"}, ""},
		"when and exclude name the level":     {study, append(huge, "[large]}", "[large, huge]}", "exclude: [", "exclude: [{sku: [huge], zone: [z1]}, "), ""},
		"exclude names another level":         {study, append(huge, "exclude: [", "exclude: [{sku: [large], zone: [z2]}, "), "exclude changed"},
		"when names another level":            {study, append(huge, "[large]}", "[large, small]}"), "factors changed (zone=z2)"},
		"a level in place of another":         {study, []string{"name: large", "name: huge", "[large]", "[huge]"}, "factors changed (sku=large, zone=z2)"},
		"a level that sets something else":    {study, append(huge, "dscp: 8", "dscp: 9"), "factors changed (sku=small)"},
		"another address":                     {study, append(huge, "10.0.0.2", "10.0.0.9"), "endpoints changed"},
		"another factor":                      {study, []string{"factors:\n", "factors:\n  streams: [1, 2]\n"}, "factors changed (streams)"},
		"a level of a plan with pairs":        {mesh, []string{"[1, 2]", "[1, 2, 4]"}, ""},
		"an endpoint that more pairs follow":  {mesh, []string{"[1, 2]", "[1, 2, 4]", "b: {ssh: b}", "b: {ssh: b}, c: {ssh: c}"}, "endpoints changed"},
		"another order":                       {study, []string{"{name: small, options: {dscp: 8}}, {name: large, options: {dscp: 10}}", "{name: large, options: {dscp: 10}}, {name: small, options: {dscp: 8}}"}, "factors changed (sku)"},
		"a level of a plan that searches one": {search, []string{"[8, 10]", "[8, 10, 12]"}, "factors changed (dscp=12)"},
	} {
		recorded, err := plan.ParseRecorded("p.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		text := c.text
		for i := 0; i < len(c.edits); i += 2 {
			if strings.Count(text, c.edits[i]) == 0 {
				t.Fatalf("%s: the plan has no %q", name, c.edits[i])
			}
			text = strings.Replace(text, c.edits[i], c.edits[i+1], 1)
		}
		changed := ""
		if err := plan.SameMeasurement(recorded, plans.Parse(t, text)); err != nil {
			_, changed, _ = strings.Cut(measure.AsError(err, measure.KindInternal).Message, "began with: ")
		}
		if changed != c.changed {
			t.Errorf("%s: changed is %q, want %q", name, changed, c.changed)
		}
	}
}
