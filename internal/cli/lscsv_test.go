package cli

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestTheListAsCSVHasALineAResult(t *testing.T) {
	_, run := stocked(t, 25)
	out, errs, code := run("ls", "--format", "csv")
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || len(lines) != 26 || errs != "" {
		t.Fatalf("status %d, %v, %d lines: %s", code, err, len(lines), errs)
	}
	row := map[string]string{}
	for i, column := range lines[0] {
		row[column] = lines[2][i]
	}
	for column, want := range map[string]string{
		"id": "0000000000000017abcd", "test": "tcp", "client": "laptop", "server": "gateway.of.a.long.name.example", "direction": "reverse", "streams": "16", "via": "iperf3",
		"goodput_mbit_s": "941.5", "rtt_p50_ms": "", "rtt_p99_ms": "", "loss_percent": "", "path_mtu_bytes": "", "error": "",
	} {
		if got, there := row[column]; !there || got != want {
			t.Errorf("%s is %q (%t), want %q", column, got, there, want)
		}
	}
	if out, _, code := run("ls", "--format", "csv", "-n", "3", "--test", "tcp"); code != 0 || strings.Count(out, "\n") != 4 {
		t.Errorf("-n 3: status %d, %s", code, out)
	}
	for _, args := range []string{"--format xml", "--format csv --campaigns", "--format csv --json"} {
		if _, _, code := run(append([]string{"ls"}, strings.Fields(args)...)...); code != 2 {
			t.Errorf("%s: status %d", args, code)
		}
	}
}
