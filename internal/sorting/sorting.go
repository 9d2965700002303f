// Package sorting sorts slices of structs. Package slices does that, too, and compiles its
// sort again for every type, which takes up to 20 KB in the program for each. Here all
// types share that of positions. So they do in sort.SliceStable, which takes twice as long.
package sorting

import "slices"

// Stable sorts s in the ascending order of compare, which is negative if a is before b. Equal
// elements keep their order. It allocates a copy of s.
func Stable[T any](s []T, compare func(a, b T) int) {
	positions := make([]int, len(s))
	for i := range positions {
		positions[i] = i
	}
	slices.SortStableFunc(positions, func(i, j int) int { return compare(s[i], s[j]) })
	sorted := make([]T, len(s))
	for to, from := range positions {
		sorted[to] = s[from]
	}
	copy(s, sorted)
}
