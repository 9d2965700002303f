package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"soku/internal/measure"
	"soku/internal/store"
)

func (s *sqlite) PutCampaign(ctx context.Context, c store.Campaign) error {
	if err := store.CheckCampaign(c); err != nil {
		return err
	}
	var finished any
	if !c.FinishedAt.IsZero() {
		finished = c.FinishedAt.UnixNano()
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO campaign
		(id, name, title, started_at, finished_at, plan, seed, patterns, trials, done, failed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, title = excluded.title,
			started_at = excluded.started_at, finished_at = excluded.finished_at, plan = excluded.plan,
			seed = excluded.seed, patterns = excluded.patterns, trials = excluded.trials,
			done = excluded.done, failed = excluded.failed`,
		c.ID, c.Name, c.Title, store.Nanos(c.StartedAt), finished, c.Plan, c.Seed, c.Patterns, c.Trials, c.Done, c.Failed)
	if err != nil {
		return fail(ctx, "store.write_campaign", measure.Figures{"campaign": c.ID, "store": s.path, "cause": err})
	}
	s.wrote.Store(true)
	return s.present()
}

const campaignColumns = `id, name, title, started_at, finished_at, plan, seed, patterns, trials, done, failed`

func scanCampaign(scan func(...any) error) (c store.Campaign, err error) {
	var started int64
	var finished sql.NullInt64
	err = scan(&c.ID, &c.Name, &c.Title, &started, &finished, &c.Plan, &c.Seed, &c.Patterns, &c.Trials, &c.Done, &c.Failed)
	c.StartedAt, c.FinishedAt = store.Moment(started), store.Moment(finished.Int64)
	return c, err
}

func (s *sqlite) Campaign(ctx context.Context, id string) (store.Campaign, error) {
	c, err := scanCampaign(s.db.QueryRowContext(ctx, `SELECT `+campaignColumns+` FROM campaign WHERE id = ?`, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Campaign{}, store.NoCampaign(s.path, id)
	}
	if err != nil {
		return store.Campaign{}, fail(ctx, "store.read_campaign", measure.Figures{"campaign": id, "store": s.path, "cause": err})
	}
	return c, nil
}

func (s *sqlite) Campaigns(ctx context.Context, q store.CampaignQuery) (store.Page[store.Campaign], error) {
	sel, err := selectCampaigns(q)
	if err != nil {
		return store.Page[store.Campaign]{}, err
	}
	campaigns, err := query(ctx, s.db, sel.statement(campaignColumns, more(q.Limit)), scanCampaign)
	if err != nil {
		return store.Page[store.Campaign]{}, fail(ctx, "store.list_campaigns", measure.Figures{"store": s.path, "cause": err})
	}
	return store.PageOf(campaigns, q.Limit, store.Campaign.Cursor), nil
}
