package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

// sqlite is a [store.Store] in one file that any SQLite tool reads.
type sqlite struct {
	sqlstore.Store
	abs   string      // the file, from the root
	file  os.FileInfo // of what was opened
	wrote atomic.Bool
}

var dialect = sqlstore.Dialect{
	Elements:     "json_each(?)",
	Leading:      "CROSS JOIN",
	Unindexed:    "+",
	Insert:       insert,
	AroundDelete: aroundDelete,
	Migrate:      migrate,
	Now:          `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
	Explain:      explain,
}

func (s *sqlite) Put(ctx context.Context, results ...*measure.Result) error {
	if err := s.Store.Put(ctx, results...); err != nil {
		return err
	}
	s.wrote.Store(true)
	return s.present()
}

func (s *sqlite) PutCampaign(ctx context.Context, c store.Campaign) error {
	if err := s.Store.PutCampaign(ctx, c); err != nil {
		return err
	}
	s.wrote.Store(true)
	return s.present()
}

// Close reports the loss of what was written if the file was deleted since.
func (s *sqlite) Close() error {
	var lost error
	if s.wrote.Swap(false) {
		lost = s.present()
	}
	if err := s.Store.Close(); err != nil {
		return err
	}
	return lost
}

func insert(ctx context.Context, tx *sql.Tx, rows []sqlstore.Row) (there map[string][]byte, err error) {
	there = map[string][]byte{}
	for _, r := range rows {
		inserted, err := insertRow(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		if inserted {
			continue
		}
		var document []byte
		if err := tx.QueryRowContext(ctx, `SELECT document FROM document WHERE id = ?`, r.ID).Scan(&document); err != nil {
			return nil, err
		}
		there[r.ID] = document
	}
	return there, nil
}

// insertRow writes a row whose ID is not there yet.
func insertRow(ctx context.Context, tx *sql.Tx, r sqlstore.Row) (inserted bool, err error) {
	figures, err := json.Marshal(r.Figures)
	if err != nil {
		return false, err
	}
	start := store.Nanos(r.StartedAt)
	done, err := tx.ExecContext(ctx, `INSERT INTO result (id, started_at, test, client, server, direction, via, streams,
			campaign, pattern, label, round, position, repetition, error_kind, error, figures)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		r.ID, start, string(r.Test), r.Client, r.Server, string(r.Direction), r.Via, r.Streams,
		r.Campaign, r.Pattern, r.Label, r.Round, r.Order, r.Repeat, string(r.ErrorKind), r.Error, string(figures))
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO document (id, document) VALUES (?, ?)`, r.ID, r.Document); err != nil {
		return false, err
	}
	for _, l := range r.Levels {
		if _, err := tx.ExecContext(ctx, `INSERT INTO result_level (factor, level, started_at, result) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			l.Factor, l.Value, start, r.ID); err != nil {
			return false, err
		}
	}
	for _, e := range r.Endpoints {
		if _, err := tx.ExecContext(ctx, `INSERT INTO result_endpoint (endpoint, started_at, result) VALUES (?, ?, ?)`, e, start, r.ID); err != nil {
			return false, err
		}
	}
	return true, nil
}

// manyDeleted is how many results are deleted with an index that lasts as long: SQLite looks
// for rows that refer to a result, which without one reads whole tables for each result.
const manyDeleted = 16

func aroundDelete(ctx context.Context, tx *sql.Tx, results int) (after func() error, err error) {
	if results < manyDeleted {
		return func() error { return nil }, nil
	}
	referring := []string{"result_level", "result_endpoint"}
	for _, table := range referring {
		if _, err := tx.ExecContext(ctx, `CREATE INDEX `+table+`_by_result ON `+table+` (result)`); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, table := range referring {
			if _, err := tx.ExecContext(ctx, `DROP INDEX `+table+`_by_result`); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
