package journal_test

import (
	"path/filepath"
	"testing"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/store"
	"soku/test/databases"
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
	all["sqlite"] = inDatabase(t, databases.Kinds["SQLite"](t))
	if !postgresql.Missing() {
		all["postgresql"] = inDatabase(t, databases.Kinds["PostgreSQL"](t))
	}
	return all
}

func inDatabase(t *testing.T, s store.Store) journal.Backend {
	t.Helper()
	j, err := sqljournal.Open(t.Context(), databases.Of(t, s), "a test")
	if err != nil {
		t.Fatal(err)
	}
	return j
}
