package journal_test

import (
	"path/filepath"
	"testing"

	"soku/internal/campaign/journal"
)

// places are what keeps journals; each has to do all that [journal.Backend] says.
func places(t *testing.T) map[string]journal.Backend {
	return map[string]journal.Backend{
		"folder": journal.Folder(filepath.Join(t.TempDir(), "campaigns")),
		"memory": new(journal.Memory),
	}
}
