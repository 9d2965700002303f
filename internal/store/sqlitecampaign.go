package store

import (
	"context"
	"database/sql"
	"errors"

	"soku/internal/measure"
)

func (s *sqlite) PutCampaign(ctx context.Context, c Campaign) error {
	if c.ID == "" {
		return measure.Errorf(measure.KindUsage, "store a campaign: it has no id").WithHint("give each campaign its own id")
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
		c.ID, c.Name, c.Title, nanos(c.StartedAt), finished, c.Plan, c.Seed, c.Patterns, c.Trials, c.Done, c.Failed)
	if err != nil {
		return failure(ctx, "write campaign "+c.ID+" to", s.path, err)
	}
	return nil
}

const campaignColumns = `SELECT id, name, title, started_at, finished_at, plan, seed, patterns, trials, done, failed FROM campaign `

func scanCampaign(scan func(...any) error) (c Campaign, err error) {
	var started int64
	var finished sql.NullInt64
	err = scan(&c.ID, &c.Name, &c.Title, &started, &finished, &c.Plan, &c.Seed, &c.Patterns, &c.Trials, &c.Done, &c.Failed)
	c.StartedAt, c.FinishedAt = moment(started), moment(finished.Int64)
	return c, err
}

func (s *sqlite) Campaign(ctx context.Context, id string) (Campaign, error) {
	doing := "read campaign " + id + " from"
	// The newest of that name counts before an abbreviation, so that a name
	// that happens to begin an identity stays usable; a full identity counts first.
	row := s.db.QueryRowContext(ctx, campaignColumns+`WHERE id = ?1 OR name = ?1
		ORDER BY id = ?1 DESC, started_at DESC, id DESC LIMIT 1`, id)
	c, err := scanCampaign(row.Scan)
	if err == nil {
		return c, nil
	} else if !errors.Is(err, sql.ErrNoRows) {
		return Campaign{}, failure(ctx, doing, s.path, err)
	}
	full, err := s.resolve(ctx, "campaign", id)
	if err != nil {
		return Campaign{}, err
	}
	c, err = scanCampaign(s.db.QueryRowContext(ctx, campaignColumns+`WHERE id = ?`, full).Scan)
	if err != nil {
		return Campaign{}, failure(ctx, doing, s.path, err)
	}
	return c, nil
}

func (s *sqlite) Campaigns(ctx context.Context) ([]Campaign, error) {
	rows, err := s.db.QueryContext(ctx, campaignColumns+`ORDER BY started_at DESC, id DESC`)
	if err != nil {
		return nil, failure(ctx, "list the campaigns in", s.path, err)
	}
	campaigns, err := collect(rows, scanCampaign)
	if err != nil {
		return nil, failure(ctx, "list the campaigns in", s.path, err)
	}
	return campaigns, nil
}
