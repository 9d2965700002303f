package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// sqlite is the embedded Store: one file, readable with any SQLite tool.
type sqlite struct {
	db   *sql.DB
	path string // as the person gave it, for messages
}

func (s *sqlite) Put(ctx context.Context, r *measure.Result) error {
	if r == nil || r.ID == "" {
		return measure.Errorf(measure.KindUsage, "store a result: it has no id").WithHint("give each result its own id")
	}
	document, err := json.Marshal(r)
	if err != nil {
		return failure(ctx, "write a result to", s.path, err)
	}
	t := measure.Trial{}
	if r.Trial != nil {
		t = *r.Trial
	}
	var message string
	if r.Error != nil {
		message = r.Error.Message
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO result
		(id, started_at, test, client, server, campaign, pattern, label, round, position, repetition, headline, error, document)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		r.ID, nanos(r.StartedAt), string(r.Test), r.Path.Client.String(), r.Path.Server.String(),
		t.Campaign, t.Pattern, t.Label, t.Round, t.Order, t.Repeat, Headline(r), message, string(document))
	if err != nil {
		return failure(ctx, "write result "+r.ID+" to", s.path, err)
	}
	return nil
}

func (s *sqlite) Get(ctx context.Context, id string) (*measure.Result, error) {
	full, err := s.resolve(ctx, "result", id)
	if err != nil {
		return nil, err
	}
	var document string
	if err := s.db.QueryRowContext(ctx, `SELECT document FROM result WHERE id = ?`, full).Scan(&document); err != nil {
		return nil, failure(ctx, "read result "+full+" from", s.path, err)
	}
	return s.decode(ctx, full, document)
}

func (s *sqlite) decode(ctx context.Context, id, document string) (*measure.Result, error) {
	r := new(measure.Result)
	if err := json.Unmarshal([]byte(document), r); err != nil {
		return nil, failure(ctx, "read result "+id+" from", s.path, err)
	}
	return r, nil
}

// resolve turns "last" and abbreviations into the identity of one row of table.
func (s *sqlite) resolve(ctx context.Context, table, id string) (string, error) {
	fail := func(err error) error { return failure(ctx, "look up "+table+" "+id+" in", s.path, err) }
	missing := measure.Errorf(measure.KindNotFound, "no %s %q in the store %s", table, id, s.path)
	if table == "campaign" {
		missing = missing.WithHint("list them with: soku ls --campaigns")
	} else {
		missing = missing.WithHint("list them with: soku ls")
	}
	var found string
	if id == Last {
		err := s.db.QueryRowContext(ctx, `SELECT id FROM `+table+` ORDER BY started_at DESC, id DESC LIMIT 1`).Scan(&found)
		if errors.Is(err, sql.ErrNoRows) {
			return "", measure.Errorf(measure.KindNotFound, "the store %s has no %s yet", s.path, table).WithHint("measure something first, for example: soku tcp HOST")
		} else if err != nil {
			return "", fail(err)
		}
		return found, nil
	}
	err := s.db.QueryRowContext(ctx, `SELECT id FROM `+table+` WHERE id = ?`, id).Scan(&found)
	if err == nil {
		return found, nil
	} else if !errors.Is(err, sql.ErrNoRows) {
		return "", fail(err)
	}
	if len(id) < MinPrefix {
		return "", missing
	}
	// A range, not LIKE: it uses the index and knows no wildcards. U+10FFFF
	// sorts after everything an identity can go on with.
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM `+table+` WHERE id >= ? AND id < ? ORDER BY id LIMIT 4`, id, id+"\U0010FFFF")
	if err != nil {
		return "", fail(err)
	}
	matches, err := collect(rows, func(scan func(...any) error) (m string, err error) { return m, scan(&m) })
	switch {
	case err != nil:
		return "", fail(err)
	case len(matches) == 0:
		return "", missing
	case len(matches) > 1:
		return "", measure.Errorf(measure.KindUsage, "%q fits several: %s", id, strings.Join(matches, ", ")).WithHint("give more of its characters")
	}
	return matches[0], nil
}

func (s *sqlite) Missing(ctx context.Context, ids []string) ([]string, error) {
	missing := []string{}
	for part := range slices.Chunk(ids, missingChunk) {
		list, err := json.Marshal(part)
		if err != nil {
			return nil, failure(ctx, "look up results in", s.path, err)
		}
		rows, err := s.db.QueryContext(ctx, `SELECT value FROM json_each(?)
			WHERE NOT EXISTS (SELECT 1 FROM result WHERE result.id = value) ORDER BY key`, string(list))
		if err != nil {
			return nil, failure(ctx, "look up results in", s.path, err)
		}
		found, err := collect(rows, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
		if err != nil {
			return nil, failure(ctx, "look up results in", s.path, err)
		}
		missing = append(missing, found...)
	}
	return missing, nil
}

// missingChunk bounds how many identities one statement looks up.
const missingChunk = 10_000

func (s *sqlite) List(ctx context.Context, q Query) ([]Entry, error) {
	query := `SELECT id, started_at, test, client, server, campaign, pattern, headline, error FROM result`
	var where []string
	var args []any
	if q.Test != "" {
		where, args = append(where, "test = ?"), append(args, string(q.Test))
	}
	if q.Campaign != "" {
		where, args = append(where, "campaign = ?"), append(args, q.Campaign)
	}
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query += " ORDER BY started_at DESC, id DESC"
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, failure(ctx, "list the results in", s.path, err)
	}
	entries, err := collect(rows, func(scan func(...any) error) (e Entry, err error) {
		var started int64
		err = scan(&e.ID, &started, &e.Test, &e.Client, &e.Server, &e.Campaign, &e.Pattern, &e.Headline, &e.Error)
		e.StartedAt = moment(started)
		return e, err
	})
	if err != nil {
		return nil, failure(ctx, "list the results in", s.path, err)
	}
	return entries, nil
}

func (s *sqlite) CampaignResults(ctx context.Context, campaignID string) ([]*measure.Result, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, document FROM result WHERE campaign = ? AND campaign <> ''
		ORDER BY round, position, repetition, started_at, id`, campaignID)
	if err != nil {
		return nil, failure(ctx, "read campaign "+campaignID+" from", s.path, err)
	}
	results, err := collect(rows, func(scan func(...any) error) (*measure.Result, error) {
		var id, document string
		if err := scan(&id, &document); err != nil {
			return nil, err
		}
		return s.decode(ctx, id, document)
	})
	if err != nil {
		return nil, failure(ctx, "read campaign "+campaignID+" from", s.path, err)
	}
	return results, nil
}

func (s *sqlite) Close() error {
	if err := s.db.Close(); err != nil {
		return failure(context.Background(), "close", s.path, err)
	}
	return nil
}

// collect reads all rows, closes them and reports whatever went wrong on the way.
func collect[T any](rows *sql.Rows, read func(scan func(...any) error) (T, error)) ([]T, error) {
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		v, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// nanos and moment are the stored form of a time. The zero time, which is
// outside the range of nanoseconds since 1970, is stored as 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
