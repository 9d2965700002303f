package campaigns

import (
	"context"
	"strings"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
)

// mostFormer is how many campaigns of former hubs are remembered after somebody asked for them.
const mostFormer = 100

// former are campaigns that this hub has not run, as their journals and the store have them.
type former struct {
	reading chan struct{} // has room for who reads a journal, which may be long
	states  map[string]formerState
}

// formerState is a state, and the entry of the store by which it was read.
type formerState struct {
	State
	entry store.Campaign
	used  time.Time
}

// At is the state of a campaign: as it runs or ran since this hub started, or else as its journal and the store have it. A journal is
// read once for each state of its campaign. Without EndedAt and Live the campaign has no end, and its Error says why this hub has not
// gone on with it, if it cannot. An error is that of the store or of the journal, or the cause of ctx.
func (c *Campaigns) At(ctx context.Context, id string) (State, error) {
	if r := c.Find(id); r != nil {
		return r.State(), nil
	}
	entry, err := c.conductor.Store.Campaign(ctx, id)
	if err != nil {
		return State{}, err
	}
	if s, known := c.recall(entry); known {
		return s, nil
	}
	select {
	case c.former.reading <- struct{}{}:
		defer func() { <-c.former.reading }()
	case <-ctx.Done():
		return State{}, context.Cause(ctx)
	}
	if s, known := c.recall(entry); known { // read meanwhile
		return s, nil
	}
	s, err := c.readFormer(ctx, entry)
	if err == nil && s.EndedAt != nil {
		c.remember(entry, s)
	}
	return s, err
}

// List is the campaigns that the store has, the newest first, at most limit (above 0) that do not run here; before them, on the first
// page, all that do. after is the identity of the last campaign of the page before, or "" for the first page. What did not run here
// since the hub started has what the store has: its Events, Agents and Error come with [Campaigns.At]. An error is that of the store.
func (c *Campaigns) List(ctx context.Context, after string, limit int) (out []State, err error) {
	q := store.CampaignQuery{Limit: limit}
	if after != "" {
		last, err := c.conductor.Store.Campaign(ctx, after)
		if err != nil {
			return nil, err
		}
		q.After = last.Cursor()
	}
	live := map[string]bool{}
	for _, s := range c.States() {
		if live[s.Campaign] = s.Live; s.Live && after == "" {
			out = append(out, s)
		}
	}
	for most := len(out) + limit; ; {
		page, err := c.conductor.Store.Campaigns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Items {
			if len(out) < most && !live[entry.ID] {
				out = append(out, c.listed(entry))
			}
		}
		if q.After = page.Next; q.After == "" || len(out) == most {
			return out, nil
		}
	}
}

// listed is the state of a campaign without reading its journal.
func (c *Campaigns) listed(entry store.Campaign) State {
	if r := c.Find(entry.ID); r != nil {
		return r.State()
	}
	if s, known := c.recall(entry); known {
		return s
	}
	return entryState(entry)
}

// recall is the state of a campaign that was read before, unless the campaign has changed since.
func (c *Campaigns) recall(entry store.Campaign) (State, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, known := c.former.states[entry.ID]
	if !known || f.entry != entry {
		return State{}, false
	}
	f.used = c.conductor.Host.Now()
	c.former.states[entry.ID] = f
	return f.State, true
}

func (c *Campaigns) remember(entry store.Campaign, s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.former.states) >= mostFormer {
		oldest := ""
		for id, f := range c.former.states {
			if oldest == "" || f.used.Before(c.former.states[oldest].used) {
				oldest = id
			}
		}
		delete(c.former.states, oldest)
	}
	c.former.states[entry.ID] = formerState{s, entry, c.conductor.Host.Now()}
}

// entryState is what the store has of a state.
func entryState(e store.Campaign) State {
	s := State{Campaign: e.ID, Name: e.Name, BeganAt: e.StartedAt, Done: e.Done, Failed: e.Failed, Total: e.Trials}
	if !e.FinishedAt.IsZero() {
		s.EndedAt = &e.FinishedAt
	}
	return s
}

// readFormer reads the journal of a campaign. One without a journal, as of another host, is as the store has it.
func (c *Campaigns) readFormer(ctx context.Context, entry store.Campaign) (State, error) {
	h := history{State: entryState(entry), gone: map[string]bool{}, repeats: map[string]bool{}}
	err := c.conductor.Journals.Read(entry.ID, func(r journal.Record) error {
		h.learn(r)
		return context.Cause(ctx)
	})
	switch {
	case measure.KindOf(err) == measure.KindNotFound:
		return h.State, nil
	case err != nil:
		return State{}, err
	case h.ended.Kind != journal.RecordEnded || goesOn(h.ended): // the hub goes on with it, if it can
		h.EndedAt, h.Error = nil, c.whySettled(entry.ID)
	default:
		h.EndedAt, h.Error = &h.ended.At, atHub(failure(h.ended))
	}
	if e := h.Error; e != nil && (e.Code == "campaign.skipped" || e.Code == "campaign.skipped_and_failed") {
		h.Skipped = max(0, h.Total-h.Done)
	}
	return h.State, nil
}

// history is a state that is made of the records of a journal.
type history struct {
	State
	ended   journal.Record  // of the last run; empty while there is none
	gone    map[string]bool // why hosts went away since the last trial began: each of their trials has a record
	repeats map[string]bool // results of trials that repeat lost ones
}

func (h *history) learn(r journal.Record) {
	switch r.Kind {
	case journal.RecordPlan:
		if p, err := plan.ParseRecorded(r.Plan.File, []byte(r.Plan.Text)); err == nil { // or a plan that this version cannot read
			h.Agents = p.LabelledEndpoints()
		}
	case journal.RecordStarted:
		h.ended = journal.Record{}
	case journal.RecordEnded:
		h.ended = r
	case journal.RecordTrialStarted:
		clear(h.gone)
		if r.Repeats != "" {
			h.repeats[r.ResultID] = true
		}
	case journal.RecordTrialDropped:
		if r.Code == "campaign.host_gone" && !h.gone[r.Reason] {
			h.gone[r.Reason] = true
			e := failure(r)
			host, _ := e.Figures["host"].(string)
			h.add(Event{At: r.At, Kind: "host_gone", Host: host, Error: e})
		}
	case journal.RecordAborted, journal.RecordConflict:
		h.add(Event{At: r.At, Kind: r.Kind, Trial: r.ResultID, Error: failure(r)})
	case journal.RecordGroupFinished:
		for _, one := range r.Group {
			h.learn(one)
		}
	case journal.RecordTrialFinished:
		client, _, _ := strings.Cut(r.Trial.Client, ".") // a label may follow
		h.finished(r.At, client, r.Result.ID, r.Result.Error, h.repeats[r.Result.ID])
		delete(h.repeats, r.Result.ID)
	}
}

// failure is why a record was written, or nil. Of a journal of an older version it has no figures.
func failure(r journal.Record) *measure.Error {
	switch {
	case r.Error != nil:
		return r.Error
	case r.Code == "":
		return nil
	}
	return &measure.Error{Kind: measure.KindIncomplete, Code: r.Code, Message: r.Reason}
}

// whySettled is why this hub does not go on with a campaign, or nil.
func (c *Campaigns) whySettled(id string) *measure.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled[id]
}
