package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mistakes on the command line or in a file end the agent before it connects, with the status of the reference.
func TestAnAgentReportsMistakesOfItsOwner(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(policy, []byte("rate: 1M\ncopy: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		text string
		code int
	}{
		"":                             {"has not joined a hub", 2},
		"--hub http://hub":             {"is not the address of a hub", 2},
		"--hub hub":                    {"there is no token", 2},
		"--hub hub --pin 3f9a":         {"3f9a", 2},
		"--address 198.51.100.7":       {"198.51.100.7", 2},
		"--address public=a:b":         {"public=a:b", 2},
		"--policy " + policy:           {"agent.yaml:2:1", 3},
		"--policy " + policy + ".none": {"agent.yaml.none", 2},
		"--join-file " + dir + "/none": {"none", 2},
		"--join a --join-file b":       {"join-file", 2},
	} {
		_, errs, code := soku(t, append([]string{"agent", "--state", filepath.Join(dir, "state")}, strings.Fields(args)...)...)
		if code != want.code || !strings.Contains(errs, want.text) {
			t.Errorf("%q: status %d, %s", args, code, errs)
		}
	}
}
