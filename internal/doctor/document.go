package doctor

import (
	"slices"
	"time"

	"soku/internal/measure"
)

// Schema identifies the document. Members may be added without a new number.
const Schema = "soku.doctor/1"

// Document is all that was found.
type Document struct {
	Schema string       `json:"schema" jsonschema:"enum=soku.doctor/1"`
	Tool   measure.Tool `json:"tool"`
	At     time.Time    `json:"at"`
	Host   string       `json:"host,omitempty" jsonschema:"description=HOST\\, as it was asked for"`
	Wanted Wanted       `json:"wanted" jsonschema:"description=What measurements the hosts are to be ready for"`
	BDP    float64      `json:"bdp_bytes,omitempty" jsonschema:"description=Bandwidth-delay product of what is wanted"`
	Ends   []End        `json:"ends" jsonschema:"description=This host; with HOST also the path and the far end"`
}

// AtPath is the [End.Where] of what is between the hosts.
const AtPath measure.Where = "path"

// End is what was found at one end, or on the path.
type End struct {
	Where     measure.Where `json:"end" jsonschema:"enum=client,enum=path,enum=server"`
	Hostname  string        `json:"hostname,omitempty"`
	Address   string        `json:"address,omitempty"`
	Interface string        `json:"interface,omitempty"`
	Findings  []Finding     `json:"findings"`
	Passed    []string      `json:"passed" jsonschema:"description=Codes of the checks that found nothing"`
	NotLooked []NotLooked   `json:"not_looked_at"`

	Facts measure.Facts `json:"-"`
	Name  string        `json:"-"` // of the far end, of a path
}

// NotLooked is a check that did not look, and why.
type NotLooked struct {
	Code   string `json:"code"`
	Reason Reason `json:"reason" jsonschema:"enum=other_system,enum=unreadable,enum=needs_rights,enum=not_reported,enum=not_applicable,enum=no_rate,enum=no_round_trip,enum=no_interface,enum=not_reached,enum=no_echo"`
}

// Problems counts the findings that will spoil a figure, without findings of this host whose
// changes were all made.
func (d *Document) Problems(mended map[Change]bool) (n int) {
	for _, e := range d.Ends {
		for _, f := range e.Findings {
			open := len(f.Changes) == 0 || e.Where == measure.AtServer ||
				slices.ContainsFunc(f.Changes, func(c Change) bool { return !mended[c] })
			if f.Severity == Problem && open {
				n++
			}
		}
	}
	return n
}

// Changes are those that [Fix] would make on this host.
func (d *Document) Changes() (all []Change) {
	for _, e := range d.Ends {
		for _, f := range e.Findings {
			if e.Where != measure.AtServer {
				all = append(all, f.Changes...)
			}
		}
	}
	return all
}
