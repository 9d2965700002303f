package campaign_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
)

func identity(k plan.TrialKey) string { return fmt.Sprint(k, k.Client, k.Server) }

var update = flag.Bool("update", false, "write the generated files anew")

// places are what keeps journals; each has to do all that [journal.Backend] says.
func places(t *testing.T) map[string]journal.Backend {
	return map[string]journal.Backend{
		"folder": journal.Folder(filepath.Join(t.TempDir(), "campaigns")),
		"memory": new(journal.Memory),
	}
}
