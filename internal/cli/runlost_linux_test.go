package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/test/tier"
)

// childOf returns the process with that parent that runs "soku trial", or 0.
func childOf(parent int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		after := bytes.LastIndexByte(text, ')') + 1
		var state string
		var ppid, pid int
		if _, err := fmt.Sscan(string(text[after:]), &state, &ppid); err != nil || ppid != parent || state == "Z" {
			continue
		}
		argv, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if _, err := fmt.Sscan(string(text), &pid); err == nil && bytes.HasSuffix(argv, []byte("\x00trial\x00")) {
			return pid
		}
	}
	return 0
}

func TestAKilledTrialRunsAgain(t *testing.T) {
	tier.SpendsSeconds(t)
	program, err := exec.LookPath("soku")
	if err != nil {
		t.Fatal(err)
	}
	address := startServer(t, nil)
	host, port, _ := net.SplitHostPort(address)
	data := t.TempDir()
	plan := filepath.Join(data, "plan.yaml")
	text := fmt.Sprintf("campaign: killed\nendpoints: {c: {command: [%s]}, s: {address: %s, port: %s}}\nfrom: c\nto: s\ntests: {up: {test: tcp, duration: 2s, rate: 1M}}\nrounds: 1\n", program, host, port)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "run", plan, "--no-preflight")
	cmd.Env, cmd.Stderr = append(os.Environ(), "SOKU_DATA="+data), &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for limit := time.Now().Add(20 * time.Second); pid == 0 && time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		pid = childOf(cmd.Process.Pid)
	}
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("no trial to kill")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &out)
	}
	journals, _ := filepath.Glob(data + "/campaigns/*/journal.ndjson")
	if len(journals) != 1 {
		t.Fatalf("journals %q: %s", journals, &out)
	}
	journal, err := os.ReadFile(journals[0])
	if err != nil || strings.Count(string(journal), `"repeats":"`) != 1 || !strings.Contains(string(journal), "repeats_lost_result") {
		t.Errorf("%v: %s", err, &out)
	}
}
