package campaign

import (
	"errors"
	"slices"
	"strings"

	"soku/internal/store"
)

// Info is a campaign as read from its journal, without opening it for work.
type Info struct {
	Record       PlanRecord
	Trials       int // of the whole campaign
	Done, Failed int
}

// Open reports whether trials are left.
func (i Info) Open() bool { return i.Done < i.Trials }

// Find lists the campaigns with that name, the newest first. Those whose journal
// does not begin with a plan are passed over.
func Find(in Journals, name string) ([]Info, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, id := range slices.Backward(ids) { // they begin with the time
		if !strings.Contains(id, name) {
			continue
		}
		c := &Campaign{outcomes: newOutcomes()}
		err := in.Read(id, c.learn)
		if err != nil && c.Record.ID == "" || c.Record.Name != name {
			continue
		}
		info := Info{Record: c.Record, Trials: c.trials}
		info.Done, info.Failed = c.Done()
		out = append(out, info)
	}
	return out, nil
}

// Begun lists the campaigns whose journals have no result, the newest first: one that was
// killed at its start may not have reached a store. A journal that cannot be read is
// passed over.
func Begun(in Journals) ([]store.Campaign, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	var out []store.Campaign
	for _, id := range slices.Backward(ids) {
		c := &Campaign{outcomes: newOutcomes()}
		err := in.Read(id, func(r Record) error {
			if r.Result != nil || len(r.Group) > 0 {
				return errHasResult
			}
			return c.learn(r)
		})
		if err != nil || c.Record.ID == "" {
			continue
		}
		if c.Plan, err = ParseRecorded(c.Record.File, []byte(c.Record.Text)); err != nil {
			c.Plan = new(Plan)
		}
		out = append(out, c.Entry())
	}
	return out, nil
}

// errHasResult ends the reading of a journal.
var errHasResult = errors.New("the journal has a result")

// FindID returns the full identity of the campaign that id means: an identity,
// the beginning of one, or "last" for the newest. Errors are of kind not_found,
// or usage if several begin like that.
func FindID(in Journals, id string) (string, error) {
	ids, err := in.IDs()
	if err != nil {
		return "", err
	}
	found, err := store.MatchID(id, ids) // they begin with the time
	if err == nil && found == "" {
		err = unknownCampaign(id, in.Name())
	}
	return found, err
}
