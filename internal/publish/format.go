package publish

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/text"
)

// Format is one way to write a report.
type Format struct {
	Name   string // also the extension of a file
	Pivots bool   // has the table of [report.Report.Pivoted]
	Binary bool   // is no text: it is written to files only
	write  func(r *report.Report, w io.Writer, c *text.Catalogue, width int) error
}

// Formats are all formats.
var Formats = []Format{
	{"html", true, false, func(r *report.Report, w io.Writer, c *text.Catalogue, _ int) error { return r.HTML(w, c) }},
	{"md", true, false, func(r *report.Report, w io.Writer, c *text.Catalogue, _ int) error { return r.Markdown(w, c) }},
	{"xlsx", true, true, func(r *report.Report, w io.Writer, c *text.Catalogue, _ int) error { return r.XLSX(w, c) }},
	{"csv", false, false, func(r *report.Report, w io.Writer, _ *text.Catalogue, _ int) error { return r.CSV(w) }},
	{"trials.csv", false, false, func(r *report.Report, w io.Writer, _ *text.Catalogue, _ int) error { return r.TrialsCSV(w) }},
	{"json", false, false, func(r *report.Report, w io.Writer, _ *text.Catalogue, _ int) error { return r.JSON(w) }},
	{"txt", true, false, (*report.Report).Text},
}

// FormatOf returns the format with a name.
func FormatOf(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// FormatOfFile returns the format with the longest extension that matches a file's name.
func FormatOfFile(file string) (found Format, ok bool) {
	for _, f := range Formats {
		if strings.HasSuffix(strings.ToLower(file), "."+f.Name) && len(f.Name) > len(found.Name) {
			found, ok = f, true
		}
	}
	return found, ok
}

// Write writes a report. Text has lines of at most width characters, or of any length if
// width is 0.
func (f Format) Write(w io.Writer, r *report.Report, c *text.Catalogue, width int) error {
	if err := f.write(r, w, c, width); err != nil {
		return measure.Fail(measure.KindOf(err), "cli.report.make", measure.Figures{"format": f.Name, "cause": err})
	}
	return nil
}

// maxFileName is the length of a file's name in characters, without its extension.
const maxFileName = 60

// FileName returns the name of a report's file without its extension: letters, digits, dash,
// underscore and dot of the campaign's name, so that no name leaves the folder.
func FileName(m report.Meta) string {
	name := m.Name
	if name == "" {
		name = m.ID
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name)
	name = strings.Trim(name, "-.")
	if name == "" {
		return "report"
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), maxFileName)])
}
