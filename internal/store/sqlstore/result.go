package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"soku/internal/measure"
	"soku/internal/store"
)

// Put stores results, all of them or none.
func (s *Store) Put(ctx context.Context, results ...*measure.Result) error {
	rows, err := store.RowsOf(s.Place, results)
	if err != nil {
		return err
	}
	return s.put(ctx, rows)
}

// PutDocuments stores documents as they are, all of them or none.
func (s *Store) PutDocuments(ctx context.Context, documents ...store.Document) error {
	rows, err := store.DocumentRows(ctx, documents)
	if err != nil {
		return err
	}
	return s.put(ctx, rows)
}

// PutStored stores documents of another store, as PutDocuments does.
func (s *Store) PutStored(ctx context.Context, documents ...store.Document) error {
	rows, err := store.StoredRows(ctx, documents)
	if err != nil {
		return err
	}
	return s.put(ctx, rows)
}

// PutIn stores results in a transaction, as [store.Store].Put does. After a conflict the transaction can go on: others of
// the results may have been written.
func (s *Store) PutIn(ctx context.Context, tx *sql.Tx, results ...*measure.Result) error {
	rows, err := store.RowsOf(s.Place, results)
	if err == nil {
		_, err = s.insert(ctx, tx, rows)
	}
	return err
}

func (s *Store) put(ctx context.Context, rows []store.Row) error {
	failed := "" // result
	err := s.Transact(ctx, func(tx *sql.Tx) (err error) {
		failed, err = s.insert(ctx, tx, rows)
		return err
	})
	if err != nil {
		return s.Fail(ctx, "store.write_result", measure.Figures{"result": failed, "store": s.Place, "cause": err})
	}
	return nil
}

// Get returns the result with exactly that ID.
func (s *Store) Get(ctx context.Context, id string) (*measure.Result, error) {
	var column []byte
	err := s.DB.QueryRowContext(ctx, s.Dialect.SQL(`SELECT `+s.Dialect.Document+` FROM document AS d WHERE d.id = ?`), s.Dialect.text(id)).Scan(&column)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.NoResult(s.Place, id)
	}
	if err != nil {
		return nil, s.Fail(ctx, "store.read_result", measure.Figures{"result": id, "store": s.Place, "cause": err})
	}
	r, err := s.decode(column, store.Whole)
	if err != nil {
		return nil, s.unreadable(id, err)
	}
	return r, nil
}

func (s *Store) decode(column []byte, detail store.Detail) (*measure.Result, error) {
	document, err := store.Document(column).JSON()
	if err != nil {
		return nil, err
	}
	return detail.Decode(document)
}

// unreadable is the failure of a document in the store that cannot be decoded: damage of
// the store, unless the document is whole and of a version that this soku does not read.
func (s *Store) unreadable(id string, err error) error {
	var cause *measure.Error
	if !errors.As(err, &cause) {
		cause = s.Dialect.Explain(err)
	}
	kind := measure.KindStore
	if cause.Code == measure.CodeOtherSchema {
		kind = cause.Kind
	}
	return measure.Fail(kind, "store.read_result", measure.Figures{"result": id, "store": s.Place, "cause": cause})
}

// missingChunk bounds how many identities one statement looks up.
const missingChunk = 10_000

// Missing returns those of the IDs that no stored result has.
func (s *Store) Missing(ctx context.Context, ids []string) ([]string, error) {
	missing := []string{}
	for part := range slices.Chunk(ids, missingChunk) {
		list, err := s.list(part)
		if err != nil {
			return nil, s.Fail(ctx, "store.look_up", measure.Figures{"store": s.Place, "cause": err})
		}
		at, err := query(ctx, s, Statement{`SELECT key FROM ` + s.Dialect.Elements + `
			WHERE NOT EXISTS (SELECT 1 FROM result WHERE result.id = value) ORDER BY key`, []any{list}},
			func(scan func(...any) error) (at int, err error) { return at, scan(&at) })
		if err != nil {
			return nil, s.Fail(ctx, "store.look_up", measure.Figures{"store": s.Place, "cause": err})
		}
		for _, i := range at {
			missing = append(missing, part[i])
		}
	}
	return missing, nil
}

// list is the parameter of [Dialect].Elements.
func (s *Store) list(texts []string) (string, error) {
	held := make([]string, len(texts))
	for i, t := range texts {
		held[i] = s.Dialect.text(t)
	}
	b, err := json.Marshal(held)
	return string(b), err
}

const entryColumns = `r.id, r.started_at, r.test, r.client, r.server, r.direction, r.via, r.streams,
	r.campaign, r.pattern, r.label, r.round, r.position, r.repetition, r.error_kind, r.error, r.figures`

func (d Dialect) scanEntry(scan func(...any) error) (e store.Entry, err error) {
	var started int64
	var figures string
	err = scan(&e.ID, &started, &e.Test, &e.Client, &e.Server, &e.Direction, &e.Via, &e.Streams,
		&e.Campaign, &e.Pattern, &e.Label, &e.Round, &e.Order, &e.Repeat, &e.ErrorKind, &e.Error, &figures)
	if err == nil {
		err = json.Unmarshal([]byte(figures), &e.Figures)
	}
	e.StartedAt = store.Moment(started)
	d.plain(&e.ID, &e.Client, &e.Server, &e.Via, &e.Campaign, &e.Pattern, &e.Label, &e.Error)
	return e, err
}

// List returns a page of what the query selects.
func (s *Store) List(ctx context.Context, q store.Query) (store.Page[store.Entry], error) {
	st, err := s.Dialect.List(q)
	if err != nil {
		return store.Page[store.Entry]{}, err
	}
	entries, err := query(ctx, s, st, s.Dialect.scanEntry)
	if err != nil {
		return store.Page[store.Entry]{}, s.Fail(ctx, "store.list_results", measure.Figures{"store": s.Place, "cause": err})
	}
	return store.PageOf(entries, q.Limit, store.Entry.Cursor), nil
}

// Count returns how many results the query selects.
func (s *Store) Count(ctx context.Context, q store.Query) (int, error) {
	q.After = ""
	sel, err := s.Dialect.selectResults(q)
	if err != nil {
		return 0, err
	}
	sel.order = ""
	var n int
	st := sel.statement(`count(*)`, 0)
	if err := s.DB.QueryRowContext(ctx, s.Dialect.SQL(st.Text), st.Args...).Scan(&n); err != nil {
		return 0, s.Fail(ctx, "store.count_results", measure.Figures{"store": s.Place, "cause": err})
	}
	return n, nil
}

// more returns how many rows [store.PageOf] wants. 0 is no limit.
func more(limit int) int {
	if limit == 0 {
		return 0
	}
	return limit + 1
}
