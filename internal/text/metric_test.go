package text_test

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	_ "soku/internal/tests" // registers the tests, which may have metrics of their own
	"soku/internal/text"
)

func TestEveryColumnOfAMetricHasItsHeading(t *testing.T) {
	keys := text.MessageKeys(t)
	for _, m := range metric.All() {
		if has := slices.Contains(keys, "metric."+m.Key); has != (m.Column != nil) {
			t.Errorf("%s: a heading is there: %v, a column: %v", m.Key, has, m.Column != nil)
		}
	}
	for _, key := range keys {
		if name, is := strings.CutPrefix(key, "metric."); is && metric.ByKey(name) == nil {
			t.Errorf("%s: there is no such metric", key)
		}
	}
}

func TestEveryNoteIsOfAColumn(t *testing.T) {
	keys := text.MessageKeys(t)
	for _, key := range keys {
		if name, is := strings.CutPrefix(key, "column_note."); is && !slices.Contains(keys, "column."+name) {
			t.Errorf("%s: there is no such column", key)
		}
		name, is := strings.CutPrefix(key, "metric_note.")
		if !is {
			continue
		}
		if of, whole := strings.CutPrefix(name, "of."); whole {
			if !slices.ContainsFunc(metric.Distributions(), func(d *metric.Distribution) bool { return begins(of, d.Member) }) {
				t.Errorf("%s: there is no such distribution", key)
			}
			continue
		}
		if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "metric.") && begins(name, k[len("metric."):]) }) {
			t.Errorf("%s: there is no such column", key)
		}
	}
}

// begins reports whether a key is that of a thing or of its variant for one test.
func begins(key, thing string) bool {
	rest, is := strings.CutPrefix(key, thing)
	return is && (rest == "" || option.SpecOf(measure.Test(strings.TrimPrefix(rest, "."))) != nil)
}

func TestEveryNameInSentencesIsOfAMetricThatRanks(t *testing.T) {
	ranks := map[string]bool{}
	for _, test := range measure.Tests() {
		for _, m := range metric.Of(test).Ranking {
			ranks[m.Key] = true
		}
	}
	for _, key := range text.MessageKeys(t) {
		for _, family := range []string{"noun.", "estimate."} {
			name, is := strings.CutPrefix(key, family)
			if figure, _, _ := strings.Cut(name, "."); is && !ranks[figure] {
				t.Errorf("%s: trials are ranked by no such metric", key)
			}
		}
	}
}
