package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// full is a standard output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAnOutputThatCannotBeWrittenIsAnErrorOfEveryCommand(t *testing.T) {
	addr := startServer(t, nil)
	dir := t.TempDir()
	plan, rules, empty := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "empty")
	for name, text := range map[string]string{
		plan:  fmt.Sprintf("campaign: a\ntests: {tcp: {test: tcp, duration: 100ms}}\nendpoints: {b: {address: %q}}\nto: b\nrounds: 1\n", addr),
		rules: "rules: [{check: goodput >= 1 Mbit/s}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(empty, "other.db")
	st, err := openStoreFile(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"", "--version", "help tcp", "completion bash", "__complete tcp --", "iperf3 --version", "ethr -h", "ntttcp -h",
		"tcp -t 100ms " + addr, "tcp -t 100ms --json " + addr, "tcp -t 100ms --json-stream " + addr, "tcp -t 100ms --explain " + addr,
		"latency -c 1 --rows " + addr, "latency -c 1 --table ethr " + addr,
		"ls", "ls --json", "ls --campaigns", "ls --campaigns --json", "show", "show --json", "rm --yes last", "prune --yes --older-than 0s", "prune --dry-run --older-than 0s",
		"report", "report --format html", "compare 01RESULT8 01RESULT9", "compare --json 01RESULT8 01RESULT9",
		"check " + rules, "check --json " + rules, "merge --from " + other, "new --host vm2 -o -", "new --host vm2 -o " + empty + "/plan.yaml",
		"plan " + plan, "plan --json " + plan, "run --no-preflight " + plan, "versus -r 2 tcp_-t_100ms_" + addr + " tcp_-P_2_-t_100ms_" + addr,
		"catalog search ec2", "catalog search --json ec2", "catalog show aws/c6i.large", "lab status --json", "doctor --json", "doctor",
		"ingest --campaign x --dry-run ../ingest/testdata/iperf3-3.1-tcp.json",
	}
	sys, _, _ := fakeSystem(t)
	var help func(c *cobra.Command)
	help = func(c *cobra.Command) {
		lines = append(lines, strings.Join(append(strings.Fields(c.CommandPath())[1:], "--help"), " "))
		for _, below := range c.Commands() {
			help(below)
		}
	}
	help(Soku.newRoot(sys))
	for _, line := range lines {
		args := strings.Fields(line)
		for i := range args {
			if !strings.HasPrefix(args[i], "__") && !strings.Contains(args[i], "/") && args[0] == "versus" {
				args[i] = strings.ReplaceAll(args[i], "_", " ") // within an argument
			}
		}
		sys, run := stocked(t, 0)
		fillStore(t, sys)
		sys.Stdout = full{}
		_, errs, code := run(args...)
		want := 7
		if strings.HasPrefix(line, "iperf3") || strings.HasPrefix(line, "ethr") {
			want = 1
		}
		if code != want || strings.Count(errs, "no space left on device") != 1 || !strings.Contains(errs, "soku: write the output") {
			t.Errorf("soku %s: status %d, %s", line, code, errs)
		}
	}
}
