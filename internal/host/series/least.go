package series

import (
	"cmp"
	"maps"
	"slices"
)

// leastOf returns the names of all values but the kept largest.
func leastOf(values map[string]int64, kept int) map[string]bool {
	if len(values) <= kept {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	least := map[string]bool{}
	for _, name := range names[kept:] {
		least[name] = true
	}
	return least
}
