package plan_test

import (
	"fmt"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// conditional is a plan of three factors, of which tests give the last.
const conditional = `campaign: conditional
endpoints: {t1: {address: 10.0.0.1}, o1: {address: 10.0.0.2}}
factors:
  region: [{name: tokyo, to: t1}, {name: osaka, to: o1}]
  streams: [1, 4, 16]
`

const conditionalTests = "tests: {up: {test: tcp}}\n"

func TestALevelExistsWithTheLevelsThatItNames(t *testing.T) {
	for disk, want := range map[string]string{
		"disk: [plain, {name: ultra, before: ./on, when: {region: tokyo}}]\nexclude: [{streams: [4, 16]}]\n":                             "tokyo / 1 / plain; tokyo / 1 / ultra; osaka / 1 / plain",
		"disk: [plain, {name: ultra, before: ./on, when: {region: [osaka, tokyo], streams: [1, 16]}}]\nexclude: [{region: tokyo}]\n":     "osaka / 1 / plain; osaka / 1 / ultra; osaka / 4 / plain; osaka / 16 / plain; osaka / 16 / ultra",
		"disk: [{name: a, before: ./a, when: {region: tokyo, streams: 4}}, {name: b, before: ./b, when: {region: osaka, streams: 1}}]\n": "tokyo / 4 / a; osaka / 1 / b",
		// The example of docs/reference/plan.md.
		"disk: [plain, {name: ultra, before: ./attach.sh ultra, when: {region: tokyo}}]\n  cache: [{name: cold, options: {omit: 0s}}, {name: warm, options: {omit: 5s}, when: {disk: ultra, region: [tokyo]}}]\nexclude: [{streams: [4, 16]}]\n": "tokyo / 1 / plain / cold; tokyo / 1 / ultra / cold; tokyo / 1 / ultra / warm; osaka / 1 / plain / cold",
		// Two levels that set one option do not meet.
		"shape: [{name: big, options: {mss: 1400}, when: {cc: plain}}, small]\n  cc: [{name: tuned, options: {mss: 900}, when: {shape: small}}, plain]\nexclude: [{region: osaka}, {streams: [1, 4]}]\n": "tokyo / 16 / big / plain; tokyo / 16 / small / tuned; tokyo / 16 / small / plain",
		"disk: [{name: a, before: ./a, when: {region: tokyo}}, {name: b, before: ./b, when: {region: osaka}}]\nexclude: [{streams: [4, 16]}]\n":                                                          "tokyo / 1 / a; osaka / 1 / b",
	} {
		if got := plans.PatternNames(plans.Parse(t, conditional+"  "+disk+conditionalTests)); got != want {
			t.Errorf("with %spatterns are %s\nwant         %s", disk, got, want)
		}
	}
}

func TestErrorsOfConditionsNameThePlace(t *testing.T) {
	for _, c := range []struct{ disk, want string }{
		{"disk: [plain, {name: u, before: ./on, when: {regoin: tokyo}}]\n", `p.yaml:6:48: factors.disk.2.when.regoin: there is no factor "regoin"; did you mean region?`},
		{"disk: [plain, {name: u, before: ./on, when: {region: tokio}}]\n", `p.yaml:6:48: factors.disk.2.when.region: factor "region" has no level "tokio"; did you mean tokyo?`},
		{"disk: [plain, {name: u, before: ./on, when: {region: []}}]\n", `factors.disk.2.when.region: factor "region" is named without a level`},
		{"disk: [plain, {name: u, before: ./on, when: {disk: plain}}]\n", `p.yaml:6:48: factors.disk.2.when.disk: a level of factor "disk" cannot depend on another of the same factor`},
		{"disk: [plain, {name: u, before: ./on, wen: {region: tokyo}}]\n", `unknown key "wen"; did you mean when?`},
		{"disk: [plain, {name: u, before: ./on, when: tokyo}]\n", `p.yaml:6:47: factors.disk.2.when: expected keys with values, found "tokyo"`},
		{"a: [plain, {name: u, before: ./on, when: {b: w}}]\n  b: [plain, {name: w, before: ./on, when: {a: plain}}]\n", `p.yaml:6:44: factors.a.2.when: level "u" is in no pattern`},
	} {
		_, err := plan.Parse("p.yaml", []byte(conditional+"  "+c.disk+conditionalTests))
		if err == nil || !strings.Contains(err.Error(), c.want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("with %serror is %v\nwant     %s", c.disk, err, c.want)
		}
	}
}

// Conditions may leave few of very many combinations, or none of them.
func TestConditionsAreCheckedBeforeAllLevelsAreCombined(t *testing.T) {
	var few strings.Builder
	few.WriteString(plans.Minimal + "factors:\n  f0: {by: hand, levels: [a, b, c, d, e, f, g, h, i, j]}\n")
	for i := 1; i < 18; i++ {
		fmt.Fprintf(&few, "  f%d: {by: hand, levels: [x", i)
		for _, l := range "abcdefghi" {
			fmt.Fprintf(&few, ", {name: %c, when: {f%d: %c}}", l, i-1, l)
		}
		few.WriteString("]}\n")
	}
	// Each factor after the first has x, or what the one before it has.
	if n := len(plans.Parse(t, few.String()).AllPatterns()); n != 9*18+1 {
		t.Errorf("%d patterns", n)
	}
	// The last level needs what its own needs exclude, which is known after all others.
	var b strings.Builder
	b.WriteString(plans.Minimal + "factors:\n  g: {by: hand, levels: [x, {name: y, when: {h: q, f0: a}}]}\n  h: {by: hand, levels: [p, {name: q, when: {f0: b}}]}\n")
	for i := range 15 {
		fmt.Fprintf(&b, "  f%d: {by: hand, levels: [a, b, c, d, e, f, g, h, i, j]}\n", i)
	}
	b.WriteString("  last: {by: hand, levels: [{name: z, when: {g: y}}]}\n")
	if _, err := plan.Parse("p.yaml", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "more than 10000 combinations") {
		t.Errorf("error is %v", err)
	}
	// Entries of a recorded list of which no combination exists are bounded together.
	b.WriteString("patterns:\n")
	for range 1000 {
		b.WriteString("  - {h: q}\n")
	}
	if _, err := plan.ParseRecorded("p.yaml", []byte(b.String())); err == nil {
		t.Error("no error")
	}
}
