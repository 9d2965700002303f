package yamlfile

import (
	"strconv"
	"strings"
)

// longestWord bounds the words that are compared, in bytes.
const longestWord = 100

// Nearest is the known word that was probably meant: the one with the fewest edits, if
// those are at most a third of its letters, or one, and leave a letter in its place.
// Empty if there is none, and for a number, which is near to none.
func Nearest(word string, known []string) string {
	if _, err := strconv.ParseFloat(word, 64); err == nil || len(word) > longestWord {
		return ""
	}
	best, fewest := "", max(len(word)/3, 1)+1
	for _, k := range known {
		if e := edits(strings.ToLower(word), strings.ToLower(k)); e < fewest && e < max(len(word), len(k)) {
			best, fewest = k, e
		}
	}
	return best
}

// edits is the number of insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment distance).
func edits(a, b string) int {
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}
