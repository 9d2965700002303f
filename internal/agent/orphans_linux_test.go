package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
)

// A trial that ends, whichever way, leaves no process: neither the child nor what
// a command before it started.
func TestNoProcessIsLeftBehind(t *testing.T) {
	shell := []string{"sh", "-c", `"$@"; true`, "sh"} // a process between this one and the child
	background := []string{"sh", "-c", `exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait`, "sh"}
	for _, prefix := range [][]string{nil, shell, background} {
		for _, how := range []string{"", never, ignores} {
			mark := fmt.Sprintf("SOKU_TEST_MARK=%016x", rand.Uint64())
			name, value, _ := bytes.Cut([]byte(mark), []byte("="))
			t.Setenv(string(name), string(value))
			ctx, cancel := context.WithCancelCause(t.Context())
			alive := 0
			child(how, prefix...).Run(ctx, aSpec(), agent.Hooks{Progress: func(p measure.Progress) {
				if p.Bytes == 2 {
					alive = len(marked(t, mark))
					if how != "" {
						cancel(measure.TextError(measure.KindInterrupted, "interrupted", ""))
					}
				}
			}})
			cancel(nil)
			if alive == 0 {
				t.Errorf("%v %q: no process was found while the trial ran", prefix, how)
			}
			// A process that its parent did not wait for ends a moment after it.
			left := marked(t, mark)
			for end := time.Now().Add(time.Second); len(left) > 0 && time.Now().Before(end); left = marked(t, mark) {
				time.Sleep(5 * time.Millisecond)
			}
			if len(left) > 0 {
				t.Errorf("%v %q: processes %v are left", prefix, how, left)
			}
		}
	}
}

// marked are the processes that were started with mark in their environment and
// have not ended.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatal("no process to be seen in /proc")
	}
	var pids []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}
