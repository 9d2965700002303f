package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/test/tier"
)

func TestATrialEndsWithItsFileThoughItsInputStaysOpen(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	program, err := exec.LookPath("soku")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "alive")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "trial", "--while", file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := option.Defaults(measure.TestLatency)
	o.Duration = measure.Duration(10 * time.Minute)
	if err := json.NewEncoder(in).Encode(agent.Spec{Schema: agent.Schema, Test: measure.TestLatency, Options: o, Host: startServer(t, nil)}); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it runs
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
