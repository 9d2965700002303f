package ingest

import (
	"encoding/json"
	"strings"

	"soku/internal/measure"
)

// Read decodes a file of results: soku's own documents one after another, as --json and
// --json-stream print them, or the output of another program. It does not read tables, which
// need a mapping. Errors have the kinds of [Decode].
func Read(s *Source) ([]*measure.Result, error) {
	if !strings.HasPrefix(strings.TrimSpace(s.text[:min(len(s.text), sniffBytes)]), "{") || !strings.Contains(s.text, `"`+measure.Schema+`"`) {
		return Decode(s, Auto)
	}
	documents, err := s.documents()
	if err != nil {
		return nil, err
	}
	if len(s.stray) > 0 {
		return nil, s.fail(s.stray[0].line, "ingest.format.no_result", nil)
	}
	var out []*measure.Result
	for _, d := range documents {
		r, err := s.native(d)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, s.fail(1, "ingest.format.no_result", nil)
	}
	return out, nil
}

// native returns the result in a document of soku: the whole document, or the result in the last
// event of a stream. It returns nil for other events, which report on a running trial.
func (s *Source) native(d document) (*measure.Result, error) {
	var head struct {
		Schema string          `json:"schema"`
		Event  string          `json:"event"`
		Result json.RawMessage `json:"result"`
	}
	if err := s.into(d, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Schema == measure.Schema:
	case head.Event == "result" && len(head.Result) > 0:
		d.raw = head.Result
	case head.Event != "":
		return nil, nil
	default:
		return nil, s.fail(d.line, "ingest.format.no_result", nil)
	}
	r := new(measure.Result)
	if err := s.into(d, r); err != nil {
		return nil, err
	}
	if r.Schema != measure.Schema || r.Test == "" {
		return nil, s.fail(d.line, "ingest.format.no_result", nil)
	}
	return r, nil
}
