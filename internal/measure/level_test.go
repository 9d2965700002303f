package measure

import (
	"slices"
	"testing"
	"testing/quick"
)

func TestJoinedLevelsAreForShowing(t *testing.T) {
	if got := JoinLevels([]Level{{"sku", "ultra"}, {"streams", "16"}}); got != "ultra / 16" {
		t.Errorf("joined %q", got)
	}
	if got := JoinLevels(nil); got != "all" {
		t.Errorf("no levels are shown as %q", got)
	}
}

func TestOnlyEqualLevelsHaveOneKey(t *testing.T) {
	ambiguous := [][]Level{
		{{"a", "x / y"}, {"b", "z"}}, {{"a", "x"}, {"b", "y / z"}}, {{"a", `x" "b"="y`}}, {{"a", "x"}, {"b", "y"}},
		{{"a", "x"}}, {{"b", "x"}}, {{"ax", ""}}, {{"", "ax"}}, {}, {{"", ""}}, {{"a", `"`}}, {{"a", `\"`}},
	}
	keys := map[string][]Level{}
	for _, levels := range ambiguous {
		if other, taken := keys[LevelsKey(levels)]; taken {
			t.Errorf("%v and %v have one key", levels, other)
		}
		keys[LevelsKey(levels)] = levels
	}
	if err := quick.Check(func(a, b []Level) bool {
		return (LevelsKey(a) == LevelsKey(b)) == slices.Equal(a, b) && LevelsKey(a) == LevelsKey(slices.Clone(a))
	}, nil); err != nil {
		t.Error(err)
	}
}
