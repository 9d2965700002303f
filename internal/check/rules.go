package check

import (
	"strconv"
	"unicode/utf8"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	_ "soku/internal/tests" // rules name tests and their figures
	"soku/internal/yamlfile"
)

// Rules are a file of rules. The tags of this struct and of [Rule] are the only declaration of
// its keys.
type Rules struct {
	Rules []Rule `yaml:"rules" doc:"What has to hold"`

	file *yamlfile.File
}

// Rule is one thing that has to hold, for each pattern that it selects by itself.
type Rule struct {
	Name  string         `yaml:"name" doc:"What the rule is called; without it its check"`
	Test  string         `yaml:"test" doc:"Label of a test of the plan, or a kind of test such as tcp; without it all tests that have the figure"`
	Where plan.Selection `yaml:"where" doc:"Levels that patterns must have, by factor; without it all patterns"`
	Check Expression     `yaml:"check" doc:"What has to hold, such as: goodput >= 900 Mbit/s"`
}

// Bounds of a file of rules.
const (
	maxRules = 1000
	maxText  = 500 // characters of a name, a label or a check
)

var format = yamlfile.Format{MaxBytes: 256 << 10, Begin: "rules:"}

// Parse reads rules; file is their path, for messages. An error has kind file and begins with
// FILE:LINE:COLUMN.
func Parse(file string, text []byte) (*Rules, error) {
	d, err := yamlfile.Parse(file, text, format)
	if err != nil {
		return nil, err
	}
	r := &Rules{file: d}
	if err := d.Decode(d.Root, r, ""); err != nil {
		return nil, err
	}
	switch n := len(r.Rules); {
	case n == 0:
		return nil, d.FailAt("rules", "check.no_rules", nil)
	case n > maxRules:
		return nil, d.FailAt("rules", "check.too_many_rules", measure.Figures{"rules": n, "most": maxRules})
	}
	for i, rule := range r.Rules {
		if rule.Check.Text == "" {
			return nil, d.FailAt(place(i), "check.no_check", nil)
		}
		for key, text := range map[string]string{"name": rule.Name, "test": rule.Test} {
			if utf8.RuneCountInString(text) > maxText {
				return nil, d.FailAt(place(i)+"."+key, "check.too_long", measure.Figures{"most": maxText})
			}
		}
	}
	return r, nil
}

// place is the path of a rule in its file, counted from 0.
func place(rule int) string { return "rules." + strconv.Itoa(rule+1) }
