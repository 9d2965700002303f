package text

import (
	"slices"
	"strings"
	"testing"
)

func TestALineBreaksBetweenJapaneseCharacters(t *testing.T) {
	for whole, want := range map[string]string{
		"goodput":          "goodput",
		"héllo→wörld,100%": "héllo→wörld,100%",
		"経路の損失":            "経|路|の|損|失",
		"損失。原因は、不明":        "損|失。|原|因|は、|不|明",
		"「経路」（往復遅延）の":      "「経|路」|（往|復|遅|延）|の",
		"ルーター":             "ルー|ター",
		"切断（-P）":           "切|断|（-P）",
		"アクティブ/待機":         "ア|ク|ティ|ブ/|待|機",
		"接続/s":             "接|続/s",
		"":                 "",
	} {
		var parts []string
		for rest := whole; rest != ""; {
			n := BreakIn(rest)
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(parts, strings.FieldsFunc(want, func(r rune) bool { return r == '|' })) {
			t.Errorf("%q breaks into %q", whole, parts)
		}
	}
}
