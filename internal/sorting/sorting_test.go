package sorting

import (
	"cmp"
	"slices"
	"testing"
	"testing/quick"
)

type entry struct{ key, place int }

func TestStableIsTheStableSortOfTheLibrary(t *testing.T) {
	compare := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	alike := func(keys []uint8) bool {
		var got []entry
		for i, key := range keys {
			got = append(got, entry{int(key % 8), i}) // most keys more than once
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, compare)
		Stable(got, compare)
		return slices.Equal(got, want)
	}
	if err := quick.Check(alike, nil); err != nil {
		t.Error(err)
	}
}
