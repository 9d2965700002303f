package measure

import (
	"sync"
)

// UnmarshalOutline reads a document without what makes documents large: the
// members flows, latency and latency_under_load and the series of the hosts are nil, and
// members that this version does not know are dropped. It takes a fraction of the time and memory
// that reading the whole takes. An outline is for looking at; writing it back
// would lose what was left out.
func UnmarshalOutline(b []byte, r *Result) error { return outlineCuts.unmarshal(b, r) }

// UnmarshalWithoutRows reads a document for a report of thousands: without the rows of its
// round trips, which are most of the document of a latency test, without the series of its
// hosts, which are most of the others, without the histogram of the program's clock, and without
// members that this version does not know. It must not be written back.
func UnmarshalWithoutRows(b []byte, r *Result) error { return rowCuts.unmarshal(b, r) }

// UnmarshalFigures reads a document for its figures, its names and its place in a campaign: without
// hosts, verdict, findings, samples, streams and what [UnmarshalWithoutRows] leaves out. It is for a
// store that keeps the document. Of what is left out only brackets and quotes are checked. It must
// not be written back.
func UnmarshalFigures(b []byte, r *Result) error { return figureCuts.unmarshal(b, r) }

var (
	series      = cuts{"series": nil}
	hosts       = cuts{"client": series, "server": series}
	outlineCuts = cuts{"flows": nil, "latency": nil, "latency_under_load": nil, "hosts": hosts}
	rows        = cuts{"rows": nil, "application": nil}
	underLoad   = cuts{"before": rows, "during": rows, "after": rows}
	rowCuts     = cuts{"hosts": hosts, "latency": rows, "latency_under_load": underLoad}
	figureCuts  = cuts{
		"hosts": nil, "verdict": nil, "explains": nil, "findings": nil, "warnings": nil,
		"flows": {"streams": nil, "samples": nil}, "latency": rows, "latency_under_load": underLoad,
	}
)

// buffers are []byte for documents of which members were left out: a reader of thousands
// of documents would otherwise fill memory with them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// unmarshal reads a document without the members that are left out and without those that
// this version does not know.
func (c cuts) unmarshal(b []byte, r *Result) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = c.cut((*buffer)[:0], b)
	var d knownResult
	if err := decode(*buffer, &d); err != nil { // which keeps nothing of the buffer
		return err
	}
	if err := d.checkSchema(); err != nil {
		return err
	}
	*r = Result(d.plainResult)
	if len(r.Findings) == 0 {
		r.Findings = OfSentences(d.Warnings)
	}
	if d.Origin != nil {
		r.Origin = &d.Origin.Origin
		if len(r.Origin.Missing) == 0 {
			r.Origin.Missing = OfPhrases(d.Origin.Lacks)
		}
	}
	return nil
}

// knownResult is a Result with the members of earlier versions, and without those that this
// version does not know. What is declared here hides the members of the same name in the
// embedded struct.
type knownResult struct {
	plainResult
	Warnings []string     `json:"warnings"` // of earlier versions, as is lacks
	Origin   *knownOrigin `json:"origin"`
}

type knownOrigin struct {
	Origin
	Lacks []string `json:"lacks"`
}
