// Package verdict finds what limited a trial: it takes the figures of a result of both ends
// ([FiguresOf]), and goes through a table of rules ([Rules]) that compare them with
// thresholds. The first rule that holds is the verdict ([Judge]).
//
// It is pure: it reads a result, does no I/O and starts no goroutines. A figure that a result
// does not have is absent, never zero, and a rule that needs it does not hold. Sentences are
// made elsewhere (package text). docs/method.md has the table of figures and of rules, which
// is generated from this package.
package verdict
