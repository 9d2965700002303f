package measure

import "encoding/json"

// UnmarshalOutline reads a document without what makes documents large: the
// members flows, latency and latency_under_load and the series of the hosts are nil, and
// members that this version does not know are dropped. It takes a fraction of the time and memory
// that reading the whole takes. An outline is for looking at; writing it back
// would lose what was left out.
func UnmarshalOutline(b []byte, r *Result) error {
	var o outline
	if err := json.Unmarshal(outlineCuts.cut(b), &o); err != nil {
		return err
	}
	if err := o.checkSchema(); err != nil {
		return err
	}
	*r = Result(o.plainResult)
	if len(r.Findings) == 0 {
		r.Findings = OfSentences(o.Warnings)
	}
	if o.Origin != nil {
		r.Origin = &o.Origin.Origin
		if len(r.Origin.Missing) == 0 {
			r.Origin.Missing = OfPhrases(o.Origin.Lacks)
		}
	}
	return nil
}

// UnmarshalWithoutRows reads a document without the rows of its round trips, which are
// most of the document of a latency test, and without the series of its hosts, which are
// most of the others. It must not be written back.
func UnmarshalWithoutRows(b []byte, r *Result) error { return r.UnmarshalJSON(rowCuts.cut(b)) }

var (
	series      = cuts{"series": nil}
	hosts       = cuts{"client": series, "server": series}
	outlineCuts = cuts{"flows": nil, "latency": nil, "latency_under_load": nil, "hosts": hosts}
	rows        = cuts{"rows": nil}
	rowCuts     = cuts{"hosts": hosts, "latency": rows, "latency_under_load": {"before": rows, "during": rows, "after": rows}}
)

// outline is a Result of which some members are skipped: those declared here
// hide the members of the same name in the embedded struct.
type outline struct {
	plainResult
	Flows     skipped `json:"flows"`
	Latency   skipped `json:"latency"`
	UnderLoad skipped `json:"latency_under_load"`

	Warnings []string       `json:"warnings"` // of earlier versions, as is lacks
	Origin   *outlineOrigin `json:"origin"`
}

type outlineOrigin struct {
	Origin
	Lacks []string `json:"lacks"`
}

// skipped is a member of a document that is not decoded.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }
