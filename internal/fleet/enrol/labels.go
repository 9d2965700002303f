package enrol

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Bounds of labels.
const (
	MaxLabels     = 20
	MaxLabelKey   = 63  // characters a-z, 0-9, period, underscore, hyphen
	MaxLabelValue = 255 // bytes of UTF-8 without control characters
)

const labelCharacters = "abcdefghijklmnopqrstuvwxyz0123456789._-"

// checkLabels fails with kind usage for labels beyond the bounds.
func checkLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return measure.Fail(measure.KindUsage, "enrol.labels.many", measure.Figures{"labels": len(labels), "limit": MaxLabels})
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == "" || len(key) > MaxLabelKey || strings.Trim(key, labelCharacters) != "" {
			return measure.Fail(measure.KindUsage, "enrol.labels.key", measure.Figures{"key": printable.Cut(printable.Line(key), MaxLabelKey), "limit": MaxLabelKey})
		}
		if v := labels[key]; len(v) > MaxLabelValue || !utf8.ValidString(v) || printable.Line(v) != v {
			return measure.Fail(measure.KindUsage, "enrol.labels.value", measure.Figures{"key": key, "limit": MaxLabelValue})
		}
	}
	return nil
}

func encodeLabels(labels map[string]string) (string, error) {
	if err := checkLabels(labels); err != nil {
		return "", err
	}
	if labels == nil {
		labels = map[string]string{}
	}
	b, err := json.Marshal(labels)
	return string(b), err
}
