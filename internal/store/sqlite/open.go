// Package sqlite is the store (package store) in one file on disk.
//
// Its statements are those of package sqlstore. A file of an older schema is brought to this one when it
// is opened.
package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

// BusyTimeout is how long a method waits for another process that writes.
const BusyTimeout = 10 * time.Second

//go:embed migrations/*.sql
var migrationFiles embed.FS

// versionTable is goose's record of what was applied. Its own name keeps it
// apart from other programs that use goose.
const versionTable = "soku_schema_version"

// Open opens the store in the file at path, makes it and its folder if
// there is none, and brings it to this version's schema. It refuses a file that
// is no SQLite database, that belongs to another program, that is damaged, or
// that a newer soku wrote; it never changes a file that it refuses. Errors are
// of kind store and name the file.
func Open(ctx context.Context, path string) (store.Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "store.path", measure.Figures{"store": path, "cause": err})
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return nil, measure.Fail(measure.KindStore, "store.folder", measure.Figures{"store": path, "cause": err})
	}
	if err := checkHeader(path, abs); err != nil {
		return nil, err
	}
	if err := checkOwner(ctx, path, abs); err != nil {
		return nil, err
	}
	makePrivate(abs)
	db, err := sql.Open("sqlite", dsn(abs))
	if err != nil {
		return nil, explained(ctx, "store.open", measure.Figures{"store": path, "cause": err})
	}
	s := &sqlite{Store: sqlstore.Store{DB: db, Place: path, Dialect: dialect, Writing: make(chan struct{}, 1)}, abs: abs}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		err = migrate(ctx, &s.Store, sqlstore.Schema{Files: files, Steps: []*goose.Migration{goose.NewGoMigration(3, &goose.GoFunc{RunDB: takeOver}, nil)}, Table: versionTable})
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	if s.file, err = os.Stat(abs); err != nil {
		_ = db.Close()
		return nil, measure.Fail(measure.KindStore, "store.open_file", measure.Figures{"store": path, "cause": err})
	}
	return s, nil
}

// makePrivate makes the file of a new store, which SQLite would make readable for everybody;
// its other files get the rights of this one. SQLite reports why one cannot be made.
func makePrivate(abs string) {
	if f, err := os.OpenFile(abs, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
}

// present fails if the store's file is not the one that was opened: SQLite goes on writing to
// a file that has no name any more.
func (s *sqlite) present() error {
	now, err := os.Stat(s.abs)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.file) {
		return measure.Fail(measure.KindStore, "store.gone", measure.Figures{"store": s.Place})
	}
	return nil
}

// checkpointPages are the pages of 4 KiB after which the log is copied into the file: pages that
// many commits change are copied once.
const checkpointPages = 8192

// dsn asks for write-ahead logging, so that readers and a writer do not wait
// for each other, and for a sync at each commit. The path goes in as an
// escaped URI: a '?' in a file's name would otherwise begin parameters.
func dsn(abs string) string {
	q := url.Values{
		"_txlock":  {"immediate"}, // a transaction that begins by reading cannot be refused when it writes
		"_timeout": {fmt.Sprint(BusyTimeout.Milliseconds())},
		"_fk":      {"on"}, "_journal": {"WAL"}, "_sync": {"FULL"},
		"_pragma": {fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages)},
	}
	return fileURI(abs, q)
}

func fileURI(abs string, q url.Values) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x becomes file:///C:/x
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}
	return u.String()
}

var sqliteMagic = []byte("SQLite format 3\x00")

// checkHeader refuses a file that is no SQLite database before SQLite opens it:
// opening with write-ahead logging already writes.
func checkHeader(path, abs string) error {
	f, err := os.Open(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "store.open_file", measure.Figures{"store": path, "cause": err})
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return nil // an empty file becomes a store
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return measure.Fail(measure.KindStore, "store.read_file", measure.Figures{"store": path, "cause": err})
	}
	if !bytes.Equal(head[:n], sqliteMagic) {
		return measure.Fail(measure.KindStore, "store.not_sqlite", measure.Figures{"store": path})
	}
	return nil
}

// checkOwner refuses another program's database without writing to it: the switch
// to write-ahead logging would already change the file.
func checkOwner(ctx context.Context, path, abs string) error {
	if info, err := os.Stat(abs); err != nil || info.Size() == 0 {
		return nil
	}
	db, err := sql.Open("sqlite", fileURI(abs, url.Values{"mode": {"ro"}, "_timeout": {fmt.Sprint(BusyTimeout.Milliseconds())}}))
	if err != nil {
		return explained(ctx, "store.open", measure.Figures{"store": path, "cause": err})
	}
	defer db.Close()
	foreign, _, err := owner(ctx, db, versionTable)
	if err != nil {
		return nil // opening it for writing reports more
	}
	if foreign {
		return measure.Fail(measure.KindStore, "store.foreign", measure.Figures{"store": path})
	}
	return checkTables(ctx, path, db)
}

// checkTables refuses a file that has a view or a virtual table in the place of a table: reading
// it may never end.
func checkTables(ctx context.Context, path string, db *sql.DB) error {
	var view string
	err := db.QueryRowContext(ctx, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'table'
		AND lower(name) IN ('result', 'document', 'result_level', 'result_endpoint', 'campaign', 'result_of_schema_1', ?) LIMIT 1`, versionTable).Scan(&view)
	if err != nil {
		return nil //nolint:nilerr // sql.ErrNoRows, or what opening it for writing reports
	}
	return measure.Fail(measure.KindStore, "store.view", measure.Figures{"store": path, "view": view})
}

// owner reports whether the database has tables but not that one, and whether it has that one.
func owner(ctx context.Context, db *sql.DB, table string) (foreign, ours bool, err error) {
	var tables, versions int
	err = db.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE name = ?) FROM sqlite_schema WHERE type = 'table'`,
		table).Scan(&tables, &versions)
	return tables > 0 && versions == 0, versions > 0, err
}

// migrate checks the version of a schema and applies the steps that are
// missing. Several processes may do this at the same time: one whose statement fails
// because another was first tries again, and finds nothing left to do.
func migrate(ctx context.Context, s *sqlstore.Store, schema sqlstore.Schema) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.DB, schema.Files,
		goose.WithTableName(schema.Table), goose.WithGoMigrations(schema.Steps...), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return s.Fail(ctx, "store.open", measure.Figures{"store": s.Place, "cause": err})
	}
	const attempts = 20
	for attempt := 1; ; attempt++ {
		err := toNewest(ctx, s, schema, provider)
		var final *measure.Error
		if err == nil || errors.As(err, &final) {
			return err
		}
		if attempt == attempts || ctx.Err() != nil || isDamage(err) {
			return s.Fail(ctx, "store.open", measure.Figures{"store": s.Place, "cause": err})
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// toNewest returns a measure.Error for what another attempt would not change.
func toNewest(ctx context.Context, s *sqlstore.Store, schema sqlstore.Schema, provider *goose.Provider) error {
	_, ours, err := owner(ctx, s.DB, schema.Table)
	if err != nil {
		return err
	}
	if ours {
		current, newest, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		if current > newest {
			return measure.Fail(measure.KindStore, "store.newer", measure.Figures{"store": s.Place, "schema": current, "newest": newest})
		}
		if current == newest {
			return nil
		}
	}
	_, err = provider.Up(ctx)
	return err
}
