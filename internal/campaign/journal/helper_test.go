package journal_test

import (
	"path/filepath"
	"testing"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/store"
	"soku/internal/store/postgres"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/postgresql"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

// places are what keeps journals; each has to do all that [journal.Backend] says.
func places(t *testing.T) map[string]journal.Backend {
	all := map[string]journal.Backend{
		"folder": journal.Folder(filepath.Join(t.TempDir(), "campaigns")),
		"memory": new(journal.Memory),
	}
	if testing.Short() {
		return all
	}
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	all["sqlite"] = inDatabase(t, file)
	if postgresql.Missing() {
		return all
	}
	if server, err := postgres.Open(t.Context(), postgresql.Database(t)); err != nil {
		t.Error(err)
	} else {
		all["postgresql"] = inDatabase(t, server)
	}
	return all
}

func inDatabase(t *testing.T, s store.Store) journal.Backend {
	t.Helper()
	t.Cleanup(func() { _ = s.Close() })
	db, ok := sqlstore.Of(s)
	if !ok {
		t.Fatal("the store has no database")
	}
	j, err := sqljournal.Open(t.Context(), db, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return j
}
