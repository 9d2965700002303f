package campaign

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
)

// Info is a campaign as read from its journal, without opening it for work.
type Info struct {
	Record       journal.PlanRecord
	Trials       int // of the whole campaign
	Done, Failed int
}

// Open reports whether trials are left.
func (i Info) Open() bool { return i.Done < i.Trials }

// Find lists the campaigns with that name, the newest first. Those whose journal
// does not begin with a plan are passed over.
func Find(in journal.Backend, name string) ([]Info, error) {
	ids, err := Newest(in, name)
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, id := range ids {
		c := &Campaign{outcomes: newOutcomes()}
		if err := in.Read(id, c.learn); err != nil && c.Record.ID == "" || c.Record.Name != name {
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
func Begun(in journal.Backend) ([]store.Campaign, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	var out []store.Campaign
	for _, id := range slices.Backward(ids) {
		c := &Campaign{outcomes: newOutcomes()}
		err := in.Read(id, func(r journal.Record) error {
			if r.Result != nil || len(r.Group) > 0 {
				return journal.ErrEnough
			}
			return c.learn(r)
		})
		if err != nil || c.Record.ID == "" {
			continue
		}
		out = append(out, c.recall())
	}
	return out, nil
}

// Kept lists the campaigns that have a journal, as they were when they began. A journal
// without a plan is passed over.
func Kept(in journal.Backend) ([]store.Campaign, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	var out []store.Campaign
	for _, id := range ids {
		c := &Campaign{outcomes: newOutcomes()}
		err := in.Read(id, func(r journal.Record) error { return cmp.Or(c.learn(r), journal.ErrEnough) })
		if errors.Is(err, journal.ErrEnough) && c.Record.ID == id {
			out = append(out, c.recall())
		}
	}
	return out, nil
}

// recall is the entry of a campaign that was read from its journal. A plan that this
// version cannot read gives no title.
func (c *Campaign) recall() store.Campaign {
	var err error
	if c.Plan, err = c.recordedPlan(); err != nil {
		c.Plan = &plan.Plan{Text: []byte(c.Record.Text)}
	}
	return c.Entry()
}

// Recall reads a journal to its end and returns the campaign as a store has it. It calls
// visit, if not nil, with every result in the order of the journal. It fails as [journal.Read]
// and visit do, and with kind store if the journal does not begin with a plan.
func Recall(r io.Reader, visit func(*measure.Result) error) (store.Campaign, error) {
	c := &Campaign{outcomes: newOutcomes()}
	_, err := journal.Read(r, func(rec journal.Record) error {
		if err := c.learn(rec); err != nil {
			return err
		}
		if c.Record.ID == "" {
			return measure.Fail(measure.KindStore, "journal.no_plan", nil)
		}
		for _, finished := range append(rec.Group, rec) {
			if visit == nil || finished.Result == nil {
				continue
			}
			res, err := finished.Result.Result()
			if err != nil {
				return err
			}
			if err := visit(res); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && c.Record.ID == "" {
		err = measure.Fail(measure.KindStore, "journal.no_plan", nil)
	}
	if err != nil {
		return store.Campaign{}, err
	}
	return c.recall(), nil
}
