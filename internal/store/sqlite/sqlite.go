package sqlite

import (
	"context"
	"database/sql"
	"os"
	"strings"
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
	Start:        "started_at",
	Snapshot:     "BEGIN",
	Document:     "coalesce(d.zstd, d.document)",
	Documents:    documents,
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

func (s *sqlite) PutDocuments(ctx context.Context, documents ...store.Document) error {
	if err := s.Store.PutDocuments(ctx, documents...); err != nil {
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

// documents are rows of JSON, and of documents that their senders compressed.
func documents(ids []string, all []store.Document) []sqlstore.Rows {
	var plain, compressed, empty []string
	var text []string
	var packed [][]byte
	for i, d := range all {
		if d.Compressed() {
			compressed, empty, packed = append(compressed, ids[i]), append(empty, ""), append(packed, d)
		} else {
			plain, text = append(plain, ids[i]), append(text, string(d))
		}
	}
	return []sqlstore.Rows{
		{Table: "document", Columns: []sqlstore.Column{{Name: "id", Texts: plain}, {Name: "document", Texts: text}}},
		{Table: "document", Columns: []sqlstore.Column{{Name: "id", Texts: compressed}, {Name: "document", Texts: empty}, {Name: "zstd", Bytes: packed}}},
	}
}

// insertedAtOnce is how many rows one statement writes.
const insertedAtOnce = 100

// largeCache is for transactions of many results, each of which changes pages all over the indexes: with the 2 MB
// of SQLite the same pages are written and read many times. Connections that only read keep the small one.
const largeCache = `PRAGMA cache_size = -32768` // KiB

// insert writes rows with few statements.
func insert(ctx context.Context, tx *sql.Tx, rows sqlstore.Rows) (written []string, err error) {
	var names []string
	for _, c := range rows.Columns {
		names = append(names, c.Name)
	}
	if rows.Len() >= insertedAtOnce {
		if _, err := tx.ExecContext(ctx, largeCache); err != nil {
			return nil, err
		}
	}
	row := "(?" + strings.Repeat(", ?", len(names)-1) + ")"
	for from := 0; from < rows.Len(); from += insertedAtOnce {
		to := min(from+insertedAtOnce, rows.Len())
		var args []any
		for i := from; i < to; i++ {
			for _, c := range rows.Columns {
				switch {
				case c.Numbers != nil:
					args = append(args, c.Numbers[i])
				case c.Bytes != nil:
					args = append(args, c.Bytes[i])
				default:
					args = append(args, c.Texts[i])
				}
			}
		}
		added, err := tx.QueryContext(ctx, `INSERT INTO `+rows.Table+` (`+strings.Join(names, ", ")+`) VALUES `+row+strings.Repeat(", "+row, to-from-1)+`
			ON CONFLICT DO NOTHING RETURNING `+names[0], args...)
		if err != nil {
			return nil, err
		}
		first, err := sqlstore.Collect(added, func(scan func(...any) error) (first string, err error) { return first, scan(&first) })
		if err != nil {
			return nil, err
		}
		written = append(written, first...)
	}
	return written, nil
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
