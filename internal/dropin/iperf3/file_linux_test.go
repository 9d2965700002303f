package iperf3

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFRefusesANamedPipe(t *testing.T) {
	t.Parallel()
	realProgram(t)
	pipe := filepath.Join(t.TempDir(), "pipe") // without a process at its other end
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, way := range []string{"", "-R"} {
		port, _ := realServer(t)
		out := ours(t, append([]string{"-c", "127.0.0.1", "-p", port, "-F", pipe}, strings.Fields(way)...)...)
		if out.code != 1 || !strings.Contains(out.stderr, "is no file") {
			t.Errorf("%s: status %d, %s%s", way, out.code, out.stdout, out.stderr)
		}
	}
}
