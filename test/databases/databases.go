// Package databases opens stores in each kind of database, for tests of what is kept there. The TestMain of a package that uses
// it is [postgresql.Main].
package databases

import (
	"path/filepath"
	"testing"

	"soku/internal/store"
	"soku/internal/store/postgres"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/postgresql"
	"soku/test/tier"
)

// Kinds open an empty store each, which is closed at the end of the test. Without PostgreSQL its tests are skipped.
var Kinds = map[string]func(t *testing.T) store.Store{
	"SQLite":     func(t *testing.T) store.Store { return SQLite(t, filepath.Join(t.TempDir(), "soku.db")) },
	"PostgreSQL": func(t *testing.T) store.Store { return Open(t, postgresql.Database(t)) },
}

// Open is the store in a database of PostgreSQL or in a file, closed at the end of the test.
func Open(t *testing.T, address string) store.Store {
	if postgres.Is(address) {
		return closed(t)(postgres.Open(t.Context(), address))
	}
	return SQLite(t, address)
}

// SQLite is the store in a file, closed at the end of the test.
func SQLite(t *testing.T, file string) store.Store { return closed(t)(sqlite.Open(t.Context(), file)) }

func closed(t *testing.T) func(store.Store, error) store.Store {
	return func(s store.Store, err error) store.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

// Each runs a test, which spends seconds, with an empty store in each kind of database.
func Each(t *testing.T, test func(t *testing.T, s store.Store, db *sqlstore.Store)) {
	tier.SpendsSeconds(t)
	for name, open := range Kinds {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(t, s, Of(t, s))
		})
	}
}

// Of is the database of a store.
func Of(t *testing.T, s store.Store) *sqlstore.Store {
	t.Helper()
	db, ok := sqlstore.Of(s)
	if !ok {
		t.Fatalf("%s has no database", s.Name())
	}
	return db
}
