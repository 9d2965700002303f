// Package sqlstore is a [store.Store] in a database that speaks SQL. What differs between databases is
// a [Dialect]; packages sqlite and postgres have one each, with the schema.
//
// A result has a row of columns, which lists and searches read, and its document in a table of its own.
//
// The goroutines of database/sql end with Close, those that decode documents with the loop
// over them ([store.Store].Results).
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"

	"soku/internal/measure"
	"soku/internal/store"
)

// Store is a store in a database whose tables have the columns that package sqlite documents.
type Store struct {
	DB      *sql.DB
	Place   string // what messages call it
	Dialect Dialect
	// Writing has room for one transaction at a time, where the database lets no others write meanwhile and has them ask
	// again and again; nil: all write simultaneously.
	Writing chan struct{}
}

// Dialect is what differs between databases. Statements have ? for each parameter.
type Dialect struct {
	// Statement writes the parameters of a statement as the database wants them; nil: it wants ?.
	Statement func(text string) string
	// Elements is a table with the columns value and key: the elements of a JSON array of texts, which is
	// its parameter, and their places.
	Elements string
	// Leading joins a table to one that comes first, which the database keeps in this order.
	Leading string
	// Start is the time of a result as the index of all results has it; other indexes have the column started_at.
	Start string
	// Text is a text as a column may hold it, and Plain the text of which that was made; nil: the text itself.
	Text, Plain func(string) string
	// Document is the column of a document, in the table document AS d.
	Document string
	// Documents are the tables of rows that hold the documents: those of some have other columns than those of others.
	Documents func(ids []string, documents []store.Document) []Rows
	// Insert writes those of the rows whose key is not there yet, and returns the first columns of what was written,
	// which are texts.
	Insert func(ctx context.Context, tx *sql.Tx, rows Rows) (written []string, err error)
	// AroundDelete is called with how many results a transaction deletes, before it does; after is called
	// at its end. nil: nothing is to be done.
	AroundDelete func(ctx context.Context, tx *sql.Tx, results int) (after func() error, err error)
	// Migrate brings the tables of a schema to its newest version; several processes may do so at the same time.
	Migrate func(ctx context.Context, s *Store, schema Schema) error
	// Snapshot begins a transaction that reads what the database had at one moment, and keeps no writer waiting.
	Snapshot string
	// Now is the time by the clock of the database, in ms since 1970.
	Now string
	// Explain is what the database said, with a next step.
	Explain func(error) *measure.Error
}

// Schema is tables that belong together, with their versions as goose's steps.
type Schema struct {
	Files fs.FS              // steps in SQL
	Steps []*goose.Migration // steps in Go
	Table string             // of the versions that were applied; its own name keeps it apart from other programs
}

// Name is the place.
func (s *Store) Name() string { return s.Place }

// Database is the store itself, for [Of].
func (s *Store) Database() *Store { return s }

// Of is the database of a store that has one.
func Of(s store.Store) (db *Store, ok bool) {
	has, ok := s.(interface{ Database() *Store })
	if !ok {
		return nil, false
	}
	return has.Database(), true
}

// Close ends the store.
func (s *Store) Close() error {
	if err := s.DB.Close(); err != nil {
		return s.Fail(context.Background(), "store.close", measure.Figures{"store": s.Place, "cause": err})
	}
	return nil
}

// Fail makes a failure of what the database said, the figure "cause", whose sentence says
// what is wrong with the store and whose hint what to do next.
func (s *Store) Fail(ctx context.Context, code string, figures measure.Figures) *measure.Error {
	err := figures["cause"].(error)
	var said *measure.Error
	if errors.As(err, &said) {
		return said
	}
	if ctx.Err() != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	figures["cause"] = s.Dialect.Explain(err)
	return measure.Fail(measure.KindStore, code, figures)
}

// Transact runs work in a transaction that is written whole or not at all.
func (s *Store) Transact(ctx context.Context, work func(*sql.Tx) error) error {
	if s.Writing != nil {
		select {
		case s.Writing <- struct{}{}:
			defer func() { <-s.Writing }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// text is a text as a column may hold it.
func (d Dialect) text(s string) string {
	if d.Text == nil {
		return s
	}
	return d.Text(s)
}

// Original is the text that a column has.
func (d Dialect) Original(column string) string {
	d.plain(&column)
	return column
}

// plain puts in place of texts of columns what they were made of.
func (d Dialect) plain(texts ...*string) {
	if d.Plain == nil {
		return
	}
	for _, t := range texts {
		*t = d.Plain(*t)
	}
}

// SQL is a statement as the database wants it.
func (d Dialect) SQL(text string) string {
	if d.Statement == nil {
		return text
	}
	return d.Statement(text)
}

// query runs a statement and reads all its rows.
func query[T any](ctx context.Context, s *Store, st Statement, read func(scan func(...any) error) (T, error)) ([]T, error) {
	rows, err := s.DB.QueryContext(ctx, s.Dialect.SQL(st.Text), st.Args...)
	if err != nil {
		return nil, err
	}
	return Collect(rows, read)
}

// Collect reads all rows, closes them and reports whatever went wrong on the way.
func Collect[T any](rows *sql.Rows, read func(scan func(...any) error) (T, error)) ([]T, error) {
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
