package report

import (
	"bytes"
	"encoding/json"
	"io"

	"soku/internal/printable"
)

// JSON writes the report as a document of schema [Schema], figures in base
// units with histograms to merge.
func (r *Report) JSON(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(printable.JSON(b.Bytes()))
	return err
}
