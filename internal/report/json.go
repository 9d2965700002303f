package report

import (
	"encoding/json"
	"io"
)

// JSON writes the report as a document of schema [Schema], figures in base
// units with histograms to merge.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
