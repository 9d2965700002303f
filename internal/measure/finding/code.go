package finding

// Code names one thing that the program can find out about a trial. Codes are
// listed, with their figures, in docs/reference/findings.md; a code is never used
// again for something else.
type Code string

// Severity is how much a finding takes from the figures beside it.
type Severity string

// Severities.
const (
	Note    Severity = "note"    // good to know; the figures stand
	Warning Severity = "warning" // makes a figure less certain
)
