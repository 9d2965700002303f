package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/store"
)

// sqlite is a [store.Store] in one file that any SQLite tool reads.
type sqlite struct {
	db    *sql.DB
	path  string      // as the person gave it, for messages
	abs   string      // the same from the root
	file  os.FileInfo // of what was opened
	wrote atomic.Bool
}

func (s *sqlite) Name() string { return s.path }

func (s *sqlite) Put(ctx context.Context, results ...*measure.Result) error {
	rows := make([]row, len(results))
	var err error
	failed := "" // result
	for i, r := range results {
		if err := store.CheckResult(r); err != nil {
			return err
		}
		if rows[i], err = rowOf(r); err != nil {
			failed = r.ID
			break
		}
	}
	if err == nil {
		err = s.transact(ctx, func(tx *sql.Tx) error {
			for i, row := range rows {
				failed = row.ID
				there, err := row.insert(ctx, tx)
				if err == nil && there != "" {
					err = store.Conflict(s.path, results[i], []byte(there))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fail(ctx, "store.write_result", measure.Figures{"result": failed, "store": s.path, "cause": err})
	}
	s.wrote.Store(true)
	return s.present()
}

// transact runs work in a transaction that is written whole or not at all.
func (s *sqlite) transact(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// row is what the tables hold of one result.
type row struct {
	store.Entry
	levels    []measure.Level
	endpoints []string
	document  string
}

func rowOf(r *measure.Result) (row, error) {
	var document strings.Builder // a string of its bytes without a copy: they may be 100 MB
	err := r.WriteJSON(&document)
	out := row{Entry: store.EntryOf(r), endpoints: store.EndpointNames(r), document: strings.TrimSuffix(document.String(), "\n")}
	if r.Trial != nil {
		out.levels = r.Trial.Levels
	}
	return out, err
}

// insert writes a row that is not there yet. If the ID is there with another document, it
// returns that document.
func (r row) insert(ctx context.Context, tx *sql.Tx) (there string, err error) {
	figures, err := json.Marshal(r.Figures)
	if err != nil {
		return "", err
	}
	start := store.Nanos(r.StartedAt)
	done, err := tx.ExecContext(ctx, `INSERT INTO result (id, started_at, test, client, server, direction, via, streams,
			campaign, pattern, label, round, position, repetition, error_kind, error, figures)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		r.ID, start, string(r.Test), r.Client, r.Server, string(r.Direction), r.Via, r.Streams,
		r.Campaign, r.Pattern, r.Label, r.Round, r.Order, r.Repeat, string(r.ErrorKind), r.Error, string(figures))
	if err != nil {
		return "", err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		if err == nil {
			err = tx.QueryRowContext(ctx, `SELECT document FROM document WHERE id = ?`, r.ID).Scan(&there)
		}
		if there == r.document {
			there = ""
		}
		return there, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO document (id, document) VALUES (?, ?)`, r.ID, r.document); err != nil {
		return "", err
	}
	for _, l := range r.levels {
		if _, err := tx.ExecContext(ctx, `INSERT INTO result_level (factor, level, started_at, result) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			l.Factor, l.Value, start, r.ID); err != nil {
			return "", err
		}
	}
	for _, e := range r.endpoints {
		if _, err := tx.ExecContext(ctx, `INSERT INTO result_endpoint (endpoint, started_at, result) VALUES (?, ?, ?)`, e, start, r.ID); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (s *sqlite) Get(ctx context.Context, id string) (*measure.Result, error) {
	var document []byte
	err := s.db.QueryRowContext(ctx, `SELECT document FROM document WHERE id = ?`, id).Scan(&document)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.NoResult(s.path, id)
	}
	if err != nil {
		return nil, fail(ctx, "store.read_result", measure.Figures{"result": id, "store": s.path, "cause": err})
	}
	r, err := store.Whole.Decode(document)
	if err != nil {
		return nil, s.unreadable(id, err)
	}
	return r, nil
}

// unreadable is the failure of a document in the store that cannot be decoded: damage of
// the store, unless the document is whole and of a version that this soku does not read.
func (s *sqlite) unreadable(id string, err error) error {
	var cause *measure.Error
	if !errors.As(err, &cause) {
		cause = explain(err)
	}
	kind := measure.KindStore
	if cause.Code == measure.CodeOtherSchema {
		kind = cause.Kind
	}
	return measure.Fail(kind, "store.read_result", measure.Figures{"result": id, "store": s.path, "cause": cause})
}

func (s *sqlite) Missing(ctx context.Context, ids []string) ([]string, error) {
	missing := []string{}
	for part := range slices.Chunk(ids, missingChunk) {
		list, err := json.Marshal(part)
		if err != nil {
			return nil, fail(ctx, "store.look_up", measure.Figures{"store": s.path, "cause": err})
		}
		rows, err := s.db.QueryContext(ctx, `SELECT value FROM json_each(?)
			WHERE NOT EXISTS (SELECT 1 FROM result WHERE result.id = value) ORDER BY key`, string(list))
		if err != nil {
			return nil, fail(ctx, "store.look_up", measure.Figures{"store": s.path, "cause": err})
		}
		found, err := collect(rows, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
		if err != nil {
			return nil, fail(ctx, "store.look_up", measure.Figures{"store": s.path, "cause": err})
		}
		missing = append(missing, found...)
	}
	return missing, nil
}

// missingChunk bounds how many identities one statement looks up.
const missingChunk = 10_000

const entryColumns = `r.id, r.started_at, r.test, r.client, r.server, r.direction, r.via, r.streams,
	r.campaign, r.pattern, r.label, r.round, r.position, r.repetition, r.error_kind, r.error, r.figures`

func scanEntry(scan func(...any) error) (e store.Entry, err error) {
	var started int64
	var figures string
	err = scan(&e.ID, &started, &e.Test, &e.Client, &e.Server, &e.Direction, &e.Via, &e.Streams,
		&e.Campaign, &e.Pattern, &e.Label, &e.Round, &e.Order, &e.Repeat, &e.ErrorKind, &e.Error, &figures)
	if err == nil {
		err = json.Unmarshal([]byte(figures), &e.Figures)
	}
	e.StartedAt = store.Moment(started)
	return e, err
}

func (s *sqlite) List(ctx context.Context, q store.Query) (store.Page[store.Entry], error) {
	sel, err := selectResults(q)
	if err != nil {
		return store.Page[store.Entry]{}, err
	}
	entries, err := query(ctx, s.db, sel.statement(entryColumns, more(q.Limit)), scanEntry)
	if err != nil {
		return store.Page[store.Entry]{}, fail(ctx, "store.list_results", measure.Figures{"store": s.path, "cause": err})
	}
	return store.PageOf(entries, q.Limit, store.Entry.Cursor), nil
}

func (s *sqlite) Count(ctx context.Context, q store.Query) (int, error) {
	q.After = ""
	sel, err := selectResults(q)
	if err != nil {
		return 0, err
	}
	sel.order = ""
	var n int
	st := sel.statement(`count(*)`, 0)
	if err := s.db.QueryRowContext(ctx, st.text, st.args...).Scan(&n); err != nil {
		return 0, fail(ctx, "store.count_results", measure.Figures{"store": s.path, "cause": err})
	}
	return n, nil
}

// Close reports the loss of what was written if the file was deleted since.
func (s *sqlite) Close() error {
	var lost error
	if s.wrote.Swap(false) {
		lost = s.present()
	}
	if err := s.db.Close(); err != nil {
		return fail(context.Background(), "store.close", measure.Figures{"store": s.path, "cause": err})
	}
	return lost
}

// more returns how many rows [store.PageOf] wants. 0 is no limit.
func more(limit int) int {
	if limit == 0 {
		return 0
	}
	return limit + 1
}

// query runs a statement and reads all its rows.
func query[T any](ctx context.Context, db *sql.DB, st statement, read func(scan func(...any) error) (T, error)) ([]T, error) {
	rows, err := db.QueryContext(ctx, st.text, st.args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, read)
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
