package archive

import (
	"context"
	"errors"
	"io"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
)

// Merged is what a merge did, or would do.
type Merged struct {
	Schema    string       `json:"schema"`
	DryRun    bool         `json:"dry_run,omitempty"`
	Results   store.Merged `json:"results"`
	Campaigns store.Merged `json:"campaigns"`
	Journals  int          `json:"journals"` // that were copied
	Unread    []Unread     `json:"unread,omitempty"`
}

// Unread is a journal that cannot be read, or not to its end.
type Unread struct {
	File  string         `json:"file"`
	Error *measure.Error `json:"error"`
}

// merging is one merge.
type merging struct {
	to     Archive
	system System
	merger *store.Merger
	unread func(*measure.Error)
	done   Merged
}

// Merge adds the results and campaigns of other places, see [store.Merger], and copies journals
// if Store is their own. A journal that cannot be read is reported to unread; the others are
// merged. With dryRun nothing is written, and Store is nil if there is none yet.
func (a Archive) Merge(ctx context.Context, s System, from Places, dryRun bool, unread func(*measure.Error)) (Merged, error) {
	m := &merging{to: a, system: s, merger: store.NewMerger(a.Store, dryRun), unread: unread, done: Merged{Schema: "soku.merge/1", DryRun: dryRun}}
	for _, file := range from.Stores {
		if err := m.store(ctx, file); err != nil {
			return m.done, err
		}
	}
	for _, file := range from.Journals {
		if err := m.journal(ctx, file); err != nil {
			return m.done, err
		}
	}
	for _, file := range from.Bundles {
		if err := m.bundle(ctx, file); err != nil {
			return m.done, err
		}
	}
	err := m.merger.Close(ctx)
	m.done.Results, m.done.Campaigns = m.merger.Results, m.merger.Campaigns
	return m.done, err
}

func (m *merging) store(ctx context.Context, file string) (err error) {
	from, err := m.system.OpenStore(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return m.merger.Store(ctx, from)
}

// journal merges a journal, and copies it if the store has the results of the journals.
func (m *merging) journal(ctx context.Context, file string) error {
	var c store.Campaign
	err := m.system.read(ctx, file, func(r io.Reader) (err error) {
		c, err = campaign.Recall(r, nil)
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		err := measure.Fail(measure.KindFile, "cli.merge.journal", measure.Figures{"file": file, "cause": err})
		m.done.Unread = append(m.done.Unread, Unread{file, err})
		m.unread(err)
		return nil //nolint:nilerr // it is reported, and the other files are still merged
	}
	if err := m.merger.Campaign(ctx, c); err != nil {
		return err
	}
	err = m.system.read(ctx, file, func(r io.Reader) error {
		_, err := campaign.Recall(r, func(res *measure.Result) error { return m.merger.Result(ctx, res) })
		return err
	})
	if err == nil {
		err = m.merger.Flush(ctx)
	}
	if err != nil || m.done.DryRun || !m.to.Own || m.merger.Refused(c.ID) {
		return err
	}
	return m.system.read(ctx, file, func(r io.Reader) error {
		adopted, err := m.to.Journals.Adopt(c.ID, r)
		if adopted {
			m.done.Journals++
		}
		return err
	})
}
