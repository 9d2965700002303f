package publish

import (
	"bytes"
	"net/url"
	"strings"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/report/printer"
)

// File is a file of a report.
type File struct {
	Name string
	Data []byte
}

// pictureFile is the file of a picture of a report whose files begin with name.
func pictureFile(name, picture string) string { return name + "-" + picture + ".svg" }

// pictureFiles are the charts of a report. An error is of kind not_found if it has none.
func pictureFiles(r *report.Report, name string, o Options) ([]File, error) {
	files, err := pictures(r, name, o)
	if err == nil && len(files) == 0 {
		err = measure.Fail(measure.KindNotFound, "cli.report.no_charts", nil)
	}
	return files, err
}

func pictures(r *report.Report, name string, o Options) (files []File, err error) {
	for _, p := range r.Pictures(o.Catalogue) {
		var b bytes.Buffer
		if err := printer.SVG(&b, p); err != nil {
			return nil, err
		}
		files = append(files, File{pictureFile(name, p.Name), b.Bytes()})
	}
	return files, nil
}

// markdownFiles are a file of Markdown and the pictures that it shows.
func markdownFiles(r *report.Report, name string, o Options) ([]File, error) {
	var b bytes.Buffer
	err := r.MarkdownWith(&b, o.Catalogue, printer.MarkdownOptions{Plain: o.Plain, Picture: func(picture string) string {
		return linkTo(pictureFile(name, picture))
	}})
	if err != nil {
		return nil, err
	}
	more, err := pictures(r, name, o)
	return append([]File{{name + ".md", b.Bytes()}}, more...), err
}

// linkTo is the address of a file in the folder of the link, without a character that
// Markdown gives a meaning.
func linkTo(file string) string {
	return strings.NewReplacer(":", "%3A", "&", "%26").Replace(url.PathEscape(file))
}

// IsDataURL reports whether a page may link to an address: http or https, without a password.
func IsDataURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}
