package report

import (
	"fmt"
	"reflect"
	"slices"

	"soku/internal/measure"
)

// compareOptions sorts the options of a test into those with one value in
// every trial and those with several. Options that were not set are left out.
func compareOptions(g labelled) (same, different []Option) {
	for _, f := range measure.OptionFields(g.test) {
		o := Option{Key: f.Key}
		for _, r := range g.results {
			if text := fieldText(f, r); !slices.Contains(o.Values, text) {
				o.Values = append(o.Values, text)
			}
		}
		switch {
		case len(o.Values) > 1:
			slices.SortFunc(o.Values, natural)
			different = append(different, o)
		case o.Values[0] != "":
			same = append(same, o)
		}
	}
	return same, different
}

// fieldText is an option's value for a person, empty for one that is not set.
func fieldText(f measure.OptionField, r *measure.Result) string {
	v := reflect.ValueOf(f.Value(&r.Options))
	if v.IsZero() {
		return ""
	}
	if f.Key == "no_delay" {
		return "on"
	}
	return fmt.Sprint(v.Interface())
}

func optionText(r *measure.Result, key string) string {
	for _, f := range measure.OptionFields(r.Test) {
		if f.Key == key {
			return fieldText(f, r)
		}
	}
	return ""
}
