// Package report turns the results of a campaign, or of trials run by hand,
// into an answer: tables, rankings, charts and the facts needed to judge them,
// as one HTML file, Markdown, CSV, JSON or text for a terminal.
//
// It reads result documents and nothing else; it does no I/O of its own, knows
// no store and starts no goroutines. Names, messages and warnings in results
// are hostile here: every form escapes them.
//
// docs/reference/report.md specifies the forms, docs/method.md the figures.
package report
