package stats

import (
	"reflect"
	"slices"
	"testing"
)

// columns inserts a column for each pattern that differs and absorbs columns inside
// others, as in Piepho (2004).
func columns(k int, differ [][2]int) [][]int {
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	cols := [][]int{all}
	without := func(c []int, i int) []int {
		return slices.DeleteFunc(slices.Clone(c), func(v int) bool { return v == i })
	}
	for _, p := range differ {
		var split [][]int
		for _, c := range cols {
			if slices.Contains(c, p[0]) && slices.Contains(c, p[1]) {
				split = append(split, without(c, p[0]), without(c, p[1]))
			} else {
				split = append(split, c)
			}
		}
		slices.SortStableFunc(split, func(a, b []int) int { return len(b) - len(a) })
		cols = nil
		for _, c := range split {
			inside := func(d []int) bool {
				return !slices.ContainsFunc(c, func(v int) bool { return !slices.Contains(d, v) })
			}
			if len(c) > 0 && !slices.ContainsFunc(cols, inside) {
				cols = append(cols, c)
			}
		}
	}
	slices.SortFunc(cols, slices.Compare[[]int])
	return cols
}

func TestGroupsAreThoseOfInsertAndAbsorb(t *testing.T) {
	for seed := range uint64(200) {
		r := source(seed)
		k := 1 + r.IntN(9)
		g := newGraph(k)
		var differ [][2]int
		for i := range k {
			for j := i + 1; j < k; j++ {
				if r.Float64() < 0.5 {
					differ = append(differ, [2]int{i, j})
				} else {
					g.join(i, j)
				}
			}
		}
		got, ok := g.groups(52)
		if want := columns(k, differ); !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d patterns, %v differ: groups %v, want %v", k, differ, got, want)
		}
	}
}

func TestTooManyGroupsHaveNoLetters(t *testing.T) {
	// Each of k/3 triples differs within itself only: 3^(k/3) groups.
	for k, want := range map[int]bool{9: true, 12: false, 180: false} {
		g := newGraph(k)
		for i := range k {
			for j := range i {
				if i/3 != j/3 {
					g.join(i, j)
				}
			}
		}
		if groups, ok := g.groups(52); ok != want || ok && len(groups) != 27 {
			t.Errorf("%d patterns: %d groups, %v", k, len(groups), ok)
		}
	}
}
