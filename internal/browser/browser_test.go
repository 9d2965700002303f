package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"soku/internal/measure"
)

func TestAnInterruptIsNoFailureOfTheBrowser(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := measure.Fail(measure.KindInterrupted, "cli.interrupted", nil)
	b := Browser{Getenv: func(string) string { return os.Args[0] }, Command: func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cancel(why)
		return exec.CommandContext(ctx, name, args...)
	}}
	dir := t.TempDir()
	if _, err := b.Print(ctx, dir, nil, "pdf"); measure.KindOf(err) != measure.KindInterrupted || err.Error() != why.Error() {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestTheAddressOfAFileIsEscaped(t *testing.T) {
	for path, want := range map[string]string{"/tmp/a b#c?.html": "file:///tmp/a%20b%23c%3F.html", "C:/Users/x/a.html": "file:///C:/Users/x/a.html"} {
		if got := fileURL(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
