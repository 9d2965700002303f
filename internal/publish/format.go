package publish

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/report/printer"
	"soku/internal/text"
)

// Format is one way to write a report.
type Format struct {
	Name   string // also the extension of a file
	Pivots bool   // has the table of [report.Report.Pivoted]
	Binary bool   // is no text: it is written to files only
	Folder bool   // is any number of files: it is written to folders only
	write  func(*report.Report, io.Writer, Options) error
	files  func(r *report.Report, name string, o Options) ([]File, error) // nil: one, of write
}

// Options are what is chosen of how a report is written.
type Options struct {
	*text.Catalogue
	Width int  // of a line of text in characters; 0: any
	Plain bool // Markdown without folds, which are HTML
	// Print returns a page of HTML as pdf or png. Without it there are no such formats.
	Print func(page []byte, format string) ([]byte, error)
}

// Formats are all formats.
var Formats = []Format{
	{Name: "html", Pivots: true, write: func(r *report.Report, w io.Writer, o Options) error { return r.HTML(w, o.Catalogue) }},
	{Name: "md", Pivots: true, write: func(r *report.Report, w io.Writer, o Options) error {
		return r.MarkdownWith(w, o.Catalogue, printer.MarkdownOptions{Plain: o.Plain})
	}, files: markdownFiles},
	{Name: "pdf", Pivots: true, Binary: true, write: printed("pdf")},
	{Name: "png", Pivots: true, Binary: true, write: printed("png")},
	{Name: "svg", Folder: true, files: pictureFiles},
	{Name: "xlsx", Pivots: true, Binary: true, write: func(r *report.Report, w io.Writer, o Options) error { return r.XLSX(w, o.Catalogue) }},
	{Name: "csv", write: func(r *report.Report, w io.Writer, _ Options) error { return r.CSV(w) }},
	{Name: "trials.csv", write: func(r *report.Report, w io.Writer, _ Options) error { return r.TrialsCSV(w) }},
	{Name: "json", write: func(r *report.Report, w io.Writer, _ Options) error { return r.JSON(w) }},
	{Name: "txt", Pivots: true, write: func(r *report.Report, w io.Writer, o Options) error { return r.Text(w, o.Catalogue, o.Width) }},
}

// printed writes the page of a report in a format that [Options.Print] makes of it.
func printed(format string) func(*report.Report, io.Writer, Options) error {
	return func(r *report.Report, w io.Writer, o Options) error {
		if o.Print == nil {
			return measure.Fail(measure.KindUsage, "cli.report.format", measure.Figures{"format": format})
		}
		var page bytes.Buffer
		if err := r.HTML(&page, o.Catalogue); err != nil {
			return err
		}
		data, err := o.Print(page.Bytes(), format)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
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

// Write writes a report that is one text.
func (f Format) Write(w io.Writer, r *report.Report, o Options) error {
	return f.failure(f.write(r, w, o))
}

// Files makes the files of a report, the one with the extension of the format first. Their names
// begin with name.
func (f Format) Files(r *report.Report, name string, o Options) ([]File, error) {
	if f.files != nil {
		files, err := f.files(r, name, o)
		return files, f.failure(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, o); err != nil {
		return nil, err
	}
	return []File{{name + "." + f.Name, b.Bytes()}}, nil
}

func (f Format) failure(err error) error {
	if err != nil {
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
