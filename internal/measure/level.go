package measure

import (
	"cmp"
	"strconv"
	"strings"
)

// LevelSeparator stands between levels where they are shown in a row.
const LevelSeparator = " / "

// Level is the value one factor has in a pattern.
type Level struct {
	Factor string `json:"factor"`
	Value  string `json:"value"`
}

// JoinLevels is the values in a row, for showing: "ultra / 16", or "all" without
// levels. A value may have the separator in it, so two patterns can have the
// same row; [LevelsKey] distinguishes them.
func JoinLevels(levels []Level) string {
	values := make([]string, len(levels))
	for i, l := range levels {
		values[i] = l.Value
	}
	return cmp.Or(strings.Join(values, LevelSeparator), "all")
}

// LevelsKey is a text for these levels in this order that no others have. It is
// for comparing, not for showing or keeping.
func LevelsKey(levels []Level) string {
	var b []byte
	for _, l := range levels {
		b = append(strconv.AppendQuote(b, l.Factor), '=')
		b = append(strconv.AppendQuote(b, l.Value), ' ')
	}
	return string(b)
}
