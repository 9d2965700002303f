package archive

import (
	"context"
	"slices"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/store"
)

// Archive is a store with the journals of this data folder.
type Archive struct {
	Store    store.Store
	Journals journal.Backend
	// Own means that Store has the results of Journals. Without it, the journals only decide
	// which of several campaigns began last.
	Own bool
}

// Find is [store.FindCampaign]. Of several campaigns that a name or "last" stands for it takes
// the one that was begun last by the journals, not by the clock, which may have stepped.
// Campaigns without a journal are in the order of their time.
func (a Archive) Find(ctx context.Context, text string) (store.Campaign, error) {
	c, err := store.FindCampaign(ctx, a.Store, text)
	name := c.Name
	switch {
	case err != nil || c.ID == text:
		return c, err
	case text == store.Last && c.Name != text:
		name = ""
	case text != c.Name: // an abbreviated identity
		return c, nil
	}
	ids, err := campaign.Newest(a.Journals, name)
	if err != nil || !slices.Contains(ids, c.ID) {
		return c, err
	}
	for _, id := range ids {
		begun, err := a.Store.Campaign(ctx, id)
		if measure.KindOf(err) != measure.KindNotFound {
			return begun, err
		}
	}
	return c, nil
}

// FindAll finds campaigns, each once, including those that only have a journal.
func (a Archive) FindAll(ctx context.Context, texts []string) (out []store.Campaign, err error) {
	for _, text := range texts {
		c, err := a.Find(ctx, text)
		if measure.KindOf(err) == measure.KindNotFound && a.Own {
			var id string
			if id, err = campaign.FindID(a.Journals, text); err == nil {
				c = store.Campaign{ID: id}
			}
		}
		if err != nil {
			return nil, err
		}
		out = add(out, c)
	}
	return out, nil
}

// add adds a campaign that is not in the list.
func add(all []store.Campaign, c store.Campaign) []store.Campaign {
	if slices.ContainsFunc(all, func(o store.Campaign) bool { return o.ID == c.ID }) {
		return all
	}
	return append(all, c)
}

// List lists all campaigns, the newest first, including those that ended before the store had
// them.
func (a Archive) List(ctx context.Context) ([]store.Campaign, error) {
	all, err := a.all(ctx, campaign.Begun)
	if a.Own {
		slices.SortStableFunc(all, func(a, b store.Campaign) int { return b.StartedAt.Compare(a.StartedAt) })
	}
	return all, err
}

// StartedBefore lists the campaigns that started before a time, including those that only have
// a journal.
func (a Archive) StartedBefore(ctx context.Context, t time.Time) ([]store.Campaign, error) {
	all, err := a.all(ctx, campaign.Kept)
	return slices.DeleteFunc(all, func(c store.Campaign) bool { return !c.StartedAt.Before(t) }), err
}

// all lists the campaigns of the store, the newest first, then those of journals that the
// store lacks.
func (a Archive) all(ctx context.Context, journals func(journal.Backend) ([]store.Campaign, error)) ([]store.Campaign, error) {
	page, err := a.Store.Campaigns(ctx, store.CampaignQuery{})
	if err != nil || !a.Own {
		return page.Items, err
	}
	all := page.Items
	more, err := journals(a.Journals)
	for _, c := range more {
		all = add(all, c)
	}
	return all, err
}

// Results counts the results of campaigns.
func (a Archive) Results(ctx context.Context, campaigns []store.Campaign) (results int, err error) {
	for _, c := range campaigns {
		n, err := a.Store.Count(ctx, store.Query{Campaign: c.ID})
		if err != nil {
			return 0, err
		}
		results += n
	}
	return results, nil
}

// Deleted counts what was deleted.
type Deleted struct{ Campaigns, Results int }

// Delete deletes campaigns with their results and journals. A campaign that is running stays,
// and running is called with an error of kind refused.
func (a Archive) Delete(ctx context.Context, campaigns []store.Campaign, running func(*measure.Error)) (d Deleted, err error) {
	for _, c := range campaigns {
		if a.Own { // first: the lock of the journal shows whether the campaign is running
			err := a.Journals.Remove(c.ID)
			if measure.KindOf(err) == measure.KindRefused {
				running(measure.Fail(measure.KindRefused, "cli.rm.running", measure.Figures{"campaign": c.ID, "cause": err}))
				continue
			}
			if err != nil && measure.KindOf(err) != measure.KindNotFound {
				return d, err
			}
		}
		n, err := a.Store.DeleteCampaign(ctx, c.ID)
		if err != nil {
			return d, err
		}
		d.Campaigns, d.Results = d.Campaigns+1, d.Results+n
	}
	return d, nil
}
