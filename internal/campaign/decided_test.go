package campaign_test

import (
	"strings"
	"testing"

	"soku/internal/campaign/plan"
)

func TestMistakesInUntilDecided(t *testing.T) {
	for keys, want := range map[string]string{
		"until: {against: first}\n":                         "plan.yaml:7:8: until: nothing says when there are enough rounds",
		"until: {interval: 2%, against: first}\n":           "plan.yaml:7:32: until.against: ",
		"until: {decided: true, against: worst}\n":          "until.against: \"worst\" is no",
		"until: {decided: true}\nonly: {sku: small}\n":      "",
		"until: {decided: true, max_rounds: 5}\n":           "plan.yaml:7:36: ",
		"until: {decided: true}\nexclude: [{sku: small}]\n": "until.decided: there is one pattern",
		"until: {decided: true}\ncontrol: {sku: small}\n":   "until.decided: there is one pattern",
		"until: {decided: true, interval: 2%}\n":            "",
	} {
		_, err := plan.Parse("plan.yaml", []byte(untilStudy+keys))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %q", keys, err, want)
		}
	}
}
