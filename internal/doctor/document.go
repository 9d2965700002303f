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
	Schema string       `json:"schema"`
	Tool   measure.Tool `json:"tool"`
	At     time.Time    `json:"at"`
	Host   string       `json:"host,omitempty"` // as it was asked for
	Wanted Wanted       `json:"wanted"`
	BDP    float64      `json:"bdp_bytes,omitempty"`
	Ends   []End        `json:"ends"` // client, path, server
}

// AtPath is the [End.Where] of what is between the hosts.
const AtPath measure.Where = "path"

// End is what was found at one end, or on the path.
type End struct {
	Where     measure.Where `json:"end"` // client, path or server
	Hostname  string        `json:"hostname,omitempty"`
	Address   string        `json:"address,omitempty"`
	Interface string        `json:"interface,omitempty"`
	Findings  []Finding     `json:"findings"`
	Passed    []string      `json:"passed"` // codes of checks
	NotLooked []NotLooked   `json:"not_looked_at"`

	Facts measure.Facts `json:"-"`
	Name  string        `json:"-"` // of the far end, of a path
}

// NotLooked is a check that did not look, and why.
type NotLooked struct {
	Code   string `json:"code"`
	Reason Reason `json:"reason"`
}

// Problems counts the findings that will spoil a figure, without those of this host whose changes
// are all mended.
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
