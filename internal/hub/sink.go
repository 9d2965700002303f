package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
)

// Arrival is a document that an agent has delivered, and what became of it.
type Arrival struct {
	Agent    string
	Result   *measure.Result // what is to be kept
	Document []byte          // as it came, zstd

	Conflict bool  // another document of its identity is kept; this one was put aside
	Err      error // it is not kept; nil: it is, durably
}

// Sink keeps documents. It may be called by one goroutine at a time.
type Sink interface {
	// Keep keeps documents, and sets Conflict or Err of each. When it returns, those without either last. It
	// is idempotent: a document that is kept already is kept.
	Keep(ctx context.Context, batch []*Arrival)
}

// InStore keeps documents in a store, and conflicts in a folder.
type InStore struct {
	Store     store.Store
	Conflicts *Conflicts // nil: a conflict is an error, and the agent keeps its document
}

// Keep implements [Sink]: one transaction, unless a document cannot be stored.
func (s InStore) Keep(ctx context.Context, batch []*Arrival) {
	results := make([]*measure.Result, len(batch))
	for i, a := range batch {
		results[i] = a.Result
	}
	if s.Store.Put(ctx, results...) == nil {
		return
	}
	for _, a := range batch {
		a.Err = s.Store.Put(ctx, a.Result)
		if store.IsConflict(a.Err) {
			s.conflict(ctx, a)
		}
	}
}

// conflict puts a document aside whose identity another one has. One that only lacks what a campaign or
// this hub has added is the same.
func (s InStore) conflict(ctx context.Context, a *Arrival) {
	stored, err := s.Store.Get(ctx, a.Result.ID)
	if err != nil {
		a.Err = err
		return
	}
	switch {
	case SameMeasured(stored, a.Result):
		a.Err = nil
	case s.Conflicts != nil:
		a.Conflict, a.Err = true, s.Conflicts.Keep(a)
	}
}

// added are the findings that do not come from the host that measured.
var added = []finding.Code{finding.ServerAwaited, finding.ReplacesResult, finding.ReplacesGroup, finding.RepeatsLost, finding.ArrivedLate, finding.StartsApart}

// SameMeasured reports whether two documents have what the host of one trial measured. Additions of campaigns and hubs
// after the trial do not count: its place in the campaign, findings, and why a group or a stopped trial failed.
func SameMeasured(stored, other *measure.Result) bool {
	failure := stored.Error == nil || stored.Error.Kind != measure.KindInterrupted && (stored.Trial == nil || stored.Trial.Group == nil)
	one, err := json.Marshal(measured(stored, failure))
	if err != nil {
		return false
	}
	two, err := json.Marshal(measured(other, failure))
	return err == nil && bytes.Equal(one, two)
}

func measured(r *measure.Result, failure bool) *measure.Result {
	m := *r
	m.Trial, m.Findings = nil, nil
	for _, f := range r.Findings {
		if !slices.Contains(added, f.Code) {
			m.Findings = append(m.Findings, f)
		}
	}
	if !failure {
		m.Error = nil
	}
	return &m
}
