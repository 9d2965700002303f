// Package backup copies a store and the journals in its database into one file while both are in use, and merges such a
// file into a store. The file is itself a store in SQLite with its journals, so a store moves from one kind of database to
// the other by way of a backup.
//
// A backup is what the database had at one moment: it is read in one transaction. Leases of campaigns are not copied. The
// package starts no goroutines.
package backup

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/durable"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
)

// Copied counts what a backup or its restoration did.
type Copied struct {
	Results   store.Merged
	Campaigns store.Merged
	Journals  store.Merged // of them conflicts: those with other records, and those of campaigns that have conflicts
}

// Write copies a store in a database into a new file. progress is called now and then with how many results were
// copied, of how many; nil: it is not. After an error there is no file. Its errors have kind usage for a store without a database,
// file for a file that exists or cannot be made, and those of [store.Store].
func Write(ctx context.Context, from store.Store, file string, progress func(done, of int)) (done Copied, err error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return done, measure.Fail(measure.KindFile, "backup.exists", measure.Figures{"file": file})
	}
	err = durable.Replace(file, 0o600, func(f *os.File) (err error) {
		to, err := sqlite.Open(ctx, f.Name())
		if err == nil {
			done, err = merge(ctx, from, to, progress)
			err = errors.Join(err, to.Close())
		}
		if err != nil { // SQLite may leave them
			_, _ = os.Remove(f.Name()+"-wal"), os.Remove(f.Name()+"-shm")
		}
		return err
	})
	if err != nil {
		return done, measure.AsError(err, measure.KindFile)
	}
	return done, nil
}

// Restore merges a backup into a store in a database. What the store has with the same content stays; what it has with
// another content stays as well, and is among the conflicts. It may be repeated, also after an error. An error of kind file
// or store says that the file is no backup or is damaged, before anything is written.
func Restore(ctx context.Context, file string, to store.Store, progress func(done, of int)) (done Copied, err error) {
	if _, err := os.Stat(file); err != nil { // opening it would make it
		return done, measure.Fail(measure.KindFile, "backup.read", measure.Figures{"file": file, "cause": err})
	}
	from, err := sqlite.Open(ctx, file)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := check(ctx, from, file); err != nil {
		return done, err
	}
	return merge(ctx, from, to, progress)
}

// check reads the whole file: a part of it may be missing.
func check(ctx context.Context, s store.Store, file string) error {
	db, _ := sqlstore.Of(s)
	var said string
	err := db.DB.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said)
	if ctx.Err() != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	if err != nil || said != "ok" {
		return measure.Fail(measure.KindFile, "backup.damaged", measure.Figures{"file": file})
	}
	return nil
}

// merging is one copy of a store into another.
type merging struct {
	from     *sqlstore.Store
	read     *sql.Conn // in a transaction
	to       *sqlstore.Store
	campaign *store.Merger
	refused  map[string]bool // campaigns with a conflict
	done     Copied
	progress func(done, of int)
}

func merge(ctx context.Context, from, to store.Store, progress func(done, of int)) (Copied, error) {
	m := merging{campaign: store.NewMerger(to, false), refused: map[string]bool{}, progress: progress}
	for _, s := range []struct {
		of   store.Store
		into **sqlstore.Store
	}{{from, &m.from}, {to, &m.to}} {
		db, ok := sqlstore.Of(s.of)
		if !ok {
			return m.done, measure.Fail(measure.KindUsage, "backup.no_database", measure.Figures{"store": s.of.Name()})
		}
		if _, err := sqljournal.Open(ctx, db, ""); err != nil { // makes the tables
			return m.done, err
		}
		*s.into = db
	}
	err := m.snapshot(ctx, func() error {
		for _, part := range []func(context.Context) error{m.campaigns, m.results, m.journals} {
			if err := part(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	m.done.Campaigns = m.campaign.Campaigns
	return m.done, err
}

// snapshot runs work while m.read sees the store as it was at one moment.
func (m *merging) snapshot(ctx context.Context, work func() error) (err error) {
	if m.read, err = m.from.DB.Conn(ctx); err != nil {
		return m.from.Fail(ctx, "store.read_results", measure.Figures{"store": m.from.Place, "cause": err})
	}
	defer func() { _ = m.read.Close() }()
	if _, err := m.read.ExecContext(ctx, m.from.Dialect.Snapshot); err != nil {
		return m.from.Fail(ctx, "store.read_results", measure.Figures{"store": m.from.Place, "cause": err})
	}
	defer func() { _, _ = m.read.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`) }()
	return work()
}
