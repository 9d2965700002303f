package store

import (
	"bytes"
	"context"
	"encoding/json"

	"soku/internal/measure"
)

// How many results a [Merger] holds and writes together, and how many samples they have together:
// an hour of 64 streams has 230,000, of 430 bytes each in its document.
const (
	mergedAtOnce  = 100
	mergedSamples = 200_000
)

// Merger takes results and campaigns of other places into a store. What the store has
// already stays as it is. Identities decide what is the same; something with a known
// identity and another content is a conflict and is left out. A campaign is given before its
// results. A Merger is not safe for concurrent use.
type Merger struct {
	To  Store // nil, with Dry: one that is empty
	Dry bool  // count, and write nothing

	Results, Campaigns Merged

	pending  []*measure.Result
	samples  int                 // of pending
	waiting  map[string]bool     // IDs of pending
	counted  map[string]bool     // IDs that are in the counts of new and known
	known    map[string]Campaign // that both places have, as the store shall have them
	refused  map[string]bool     // IDs that are conflicts
	enlarged map[string]bool     // known campaigns that got results
}

// Merged counts what became of results, or of campaigns: each once, also one that several of
// the merged places have.
type Merged struct {
	New       int      `json:"new"`
	Known     int      `json:"known"`               // in the store already, with the same content
	Conflicts []string `json:"conflicts,omitempty"` // identities: in the store with another content, or of such a campaign
}

// NewMerger merges into a store.
func NewMerger(to Store, dry bool) *Merger {
	return &Merger{To: to, Dry: dry, waiting: map[string]bool{}, counted: map[string]bool{}, known: map[string]Campaign{}, refused: map[string]bool{}, enlarged: map[string]bool{}}
}

// Campaign takes a campaign. Of two states of one campaign that with more trials done stays.
func (m *Merger) Campaign(ctx context.Context, c Campaign) error {
	there, err := m.campaign(ctx, c.ID)
	switch {
	case measure.KindOf(err) == measure.KindNotFound:
		m.count(&m.Campaigns.New, c.ID)
		return m.write(ctx, c)
	case err != nil:
		return err
	case there.Name != c.Name || there.Plan != c.Plan || there.Seed != c.Seed || Nanos(there.StartedAt) != Nanos(c.StartedAt):
		m.refuse(&m.Campaigns, c.ID)
		return nil
	}
	m.count(&m.Campaigns.Known, c.ID)
	if c.Done > there.Done || c.Done == there.Done && there.FinishedAt.IsZero() {
		there = c
		if err := m.write(ctx, c); err != nil {
			return err
		}
	}
	m.known[c.ID] = there
	return nil
}

// count adds one to n, unless the ID is counted already.
func (m *Merger) count(n *int, id string) {
	if !m.counted[id] {
		m.counted[id] = true
		*n++
	}
}

// refuse names a conflict, once.
func (m *Merger) refuse(of *Merged, id string) {
	if !m.refused[id] {
		m.refused[id] = true
		of.Conflicts = append(of.Conflicts, id)
	}
}

// Refused reports whether the campaign is a conflict.
func (m *Merger) Refused(campaign string) bool { return m.refused[campaign] }

func (m *Merger) campaign(ctx context.Context, id string) (Campaign, error) {
	if m.To == nil {
		return Campaign{}, NoCampaign("", id)
	}
	return m.To.Campaign(ctx, id)
}

func (m *Merger) write(ctx context.Context, c Campaign) error {
	if m.Dry {
		return nil
	}
	return m.To.PutCampaign(ctx, c)
}

// Result takes a result; [Merger.Flush] writes what has not been written yet.
func (m *Merger) Result(ctx context.Context, r *measure.Result) error {
	if m.waiting[r.ID] || len(m.pending) >= mergedAtOnce {
		if err := m.Flush(ctx); err != nil {
			return err
		}
	}
	m.pending = append(m.pending, r)
	m.waiting[r.ID] = true
	if m.samples += samplesOf(r); m.samples >= mergedSamples {
		return m.Flush(ctx)
	}
	return nil
}

func samplesOf(r *measure.Result) (n int) {
	for _, f := range r.Flows {
		n += len(f.Samples)
		for _, s := range f.Streams {
			n += len(s.Samples)
		}
	}
	return n
}

// Flush takes the results that are held.
func (m *Merger) Flush(ctx context.Context) error {
	all := m.pending
	m.pending, m.samples = nil, 0
	clear(m.waiting)
	missing, err := m.missing(ctx, all)
	if err != nil {
		return err
	}
	var put []*measure.Result
	for _, r := range all {
		campaign := campaignOf(r)
		switch {
		case m.refused[campaign]:
			m.refuse(&m.Results, r.ID)
		case missing[r.ID]:
			put = append(put, r)
			m.count(&m.Results.New, r.ID)
			if _, known := m.known[campaign]; known {
				m.enlarged[campaign] = true
			}
		default:
			there, err := m.To.Get(ctx, r.ID)
			if err != nil {
				return err
			}
			if same, err := equal(there, r); err != nil {
				return err
			} else if !same {
				m.refuse(&m.Results, r.ID)
				continue
			}
			m.count(&m.Results.Known, r.ID)
		}
	}
	if m.Dry || len(put) == 0 {
		return nil
	}
	return m.To.Put(ctx, put...)
}

func (m *Merger) missing(ctx context.Context, all []*measure.Result) (map[string]bool, error) {
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	if m.To != nil && len(ids) > 0 {
		var err error
		if ids, err = m.To.Missing(ctx, ids); err != nil {
			return nil, err
		}
	}
	missing := make(map[string]bool, len(ids))
	for _, id := range ids {
		missing[id] = true
	}
	return missing, nil
}

// Close takes the results that are held. Campaigns of ingested results, which have no
// planned number of trials, then count those that they got.
func (m *Merger) Close(ctx context.Context) error {
	if err := m.Flush(ctx); err != nil || m.Dry {
		return err
	}
	for id := range m.enlarged {
		c := m.known[id]
		if c.Plan != "" {
			continue
		}
		c.Done, c.Failed = 0, 0
		for e, err := range Entries(ctx, m.To, Query{Campaign: id}) {
			if err != nil {
				return err
			}
			c.Done++
			if e.ErrorKind != "" {
				c.Failed++
			}
		}
		c.Trials = c.Done
		if err := m.To.PutCampaign(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Store takes all campaigns and results of another store.
func (m *Merger) Store(ctx context.Context, from Store) error {
	campaigns, err := from.Campaigns(ctx, CampaignQuery{})
	if err != nil {
		return err
	}
	for _, c := range campaigns.Items {
		if err := m.Campaign(ctx, c); err != nil {
			return err
		}
	}
	for r, err := range from.Results(ctx, Query{OldestFirst: true}, Whole) {
		if err != nil {
			return err
		}
		if err := m.Result(ctx, r); err != nil {
			return err
		}
	}
	return m.Flush(ctx)
}

func campaignOf(r *measure.Result) string {
	if r.Trial == nil {
		return ""
	}
	return r.Trial.Campaign
}

// equal reports whether two results are one document.
func equal(a, b *measure.Result) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, measure.Fail(measure.KindInternal, "store.compare", measure.Figures{"result": a.ID, "cause": err})
	}
	other, err := json.Marshal(b)
	if err != nil {
		return false, measure.Fail(measure.KindInternal, "store.compare", measure.Figures{"result": b.ID, "cause": err})
	}
	return bytes.Equal(one, other), nil
}
