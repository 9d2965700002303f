package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"soku/internal/measure"
	"soku/internal/store"
)

// PutCampaign stores c under its ID and replaces what was there.
func (s *Store) PutCampaign(ctx context.Context, c store.Campaign) error {
	if err := store.CheckCampaign(c); err != nil {
		return err
	}
	var finished any
	if !c.FinishedAt.IsZero() {
		finished = c.FinishedAt.UnixNano()
	}
	text := s.Dialect.text
	_, err := s.DB.ExecContext(ctx, s.Dialect.SQL(`INSERT INTO campaign
		(id, name, title, started_at, finished_at, plan, seed, patterns, trials, done, failed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, title = excluded.title,
			started_at = excluded.started_at, finished_at = excluded.finished_at, plan = excluded.plan,
			seed = excluded.seed, patterns = excluded.patterns, trials = excluded.trials,
			done = excluded.done, failed = excluded.failed`),
		text(c.ID), text(c.Name), text(c.Title), store.Nanos(c.StartedAt), finished, text(c.Plan), c.Seed, c.Patterns, c.Trials, c.Done, c.Failed)
	if err != nil {
		return s.Fail(ctx, "store.write_campaign", measure.Figures{"campaign": c.ID, "store": s.Place, "cause": err})
	}
	return nil
}

const campaignColumns = `id, name, title, started_at, finished_at, plan, seed, patterns, trials, done, failed`

func (d Dialect) scanCampaign(scan func(...any) error) (c store.Campaign, err error) {
	var started int64
	var finished sql.NullInt64
	err = scan(&c.ID, &c.Name, &c.Title, &started, &finished, &c.Plan, &c.Seed, &c.Patterns, &c.Trials, &c.Done, &c.Failed)
	c.StartedAt, c.FinishedAt = store.Moment(started), store.Moment(finished.Int64)
	d.plain(&c.ID, &c.Name, &c.Title, &c.Plan)
	return c, err
}

// Campaign returns the campaign with exactly that ID.
func (s *Store) Campaign(ctx context.Context, id string) (store.Campaign, error) {
	c, err := s.Dialect.scanCampaign(s.DB.QueryRowContext(ctx, s.Dialect.SQL(`SELECT `+campaignColumns+` FROM campaign WHERE id = ?`), s.Dialect.text(id)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Campaign{}, store.NoCampaign(s.Place, id)
	}
	if err != nil {
		return store.Campaign{}, s.Fail(ctx, "store.read_campaign", measure.Figures{"campaign": id, "store": s.Place, "cause": err})
	}
	return c, nil
}

// CampaignsIn returns all campaigns that a connection sees, in its transaction.
func (s *Store) CampaignsIn(ctx context.Context, conn *sql.Conn) (all []store.Campaign, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT `+campaignColumns+` FROM campaign ORDER BY id`)
	if err == nil {
		all, err = Collect(rows, s.Dialect.scanCampaign)
	}
	if err != nil {
		return nil, s.Fail(ctx, "store.list_campaigns", measure.Figures{"store": s.Place, "cause": err})
	}
	return all, nil
}

// Campaigns returns a page of the campaigns that the query selects.
func (s *Store) Campaigns(ctx context.Context, q store.CampaignQuery) (store.Page[store.Campaign], error) {
	st, err := s.Dialect.Campaigns(q)
	if err != nil {
		return store.Page[store.Campaign]{}, err
	}
	campaigns, err := query(ctx, s, st, s.Dialect.scanCampaign)
	if err != nil {
		return store.Page[store.Campaign]{}, s.Fail(ctx, "store.list_campaigns", measure.Figures{"store": s.Place, "cause": err})
	}
	return store.PageOf(campaigns, q.Limit, store.Campaign.Cursor), nil
}
