// Package report turns the results of a campaign, or of trials run by hand,
// into an answer: tables, rankings, charts and the facts needed to judge them,
// as one HTML file, Markdown, CSV, JSON or text for a terminal.
//
//	b := report.NewBuilder(report.Input{Campaign: meta, Patterns: patterns}, trials)
//	for result := range results { // in the order of their start
//		b.Add(result)
//	}
//	r, err := b.Report() // an error if no result was added
//	if err != nil {
//		return err
//	}
//	for _, place := range r.Tests[0].Ranking { ... } // facts for a program
//	err = r.HTML(w, text.English())                  // or Markdown, XLSX, Text: sentences in a language
//	err = r.CSV(w)                                   // or TrialsCSV, JSON: for programs
//
// [Build] does the first four steps with results that are all in memory. [Compare] decides
// between choices that need not be of one campaign.
//
// The rows of the forms for programs are one list of fields, rowFields, with an accessor
// each. Charts are layers on a [plot.Plot].
//
// The package reads result documents only; it does no I/O of its own, knows
// no store and starts no goroutines. Names, messages and warnings in results
// are hostile here: every form escapes them.
//
// docs/reference/report.md specifies the forms, docs/method.md the figures.
package report
