// Package check judges what was measured by rules that a person writes down: thresholds on
// figures, on their intervals and on differences from something measured before
// (docs/reference/check.md). A rule holds where an interval lies wholly on the good side of
// its threshold, does not hold where it lies wholly on the other, and else neither is shown.
//
// [Parse] reads the rules, [Rules.Judge] judges, and an [Outcome] writes itself as text, JSON,
// Markdown and JUnit XML. The package reads no store and no results but those it is given,
// and starts no goroutines.
package check
