//go:build !windows

package process_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/process"
)

func shell(t *testing.T) process.Shell {
	return process.Shell{Command: exec.CommandContext, Dir: t.TempDir(), More: []string{"SOKU_LAB=demo"}}
}

func TestACommandRunsInThePlansFolderWithItsEnvironment(t *testing.T) {
	s := shell(t)
	out, err := s.Run(t.Context(), `pwd; echo "$SOKU_LAB $SOKU_PATTERN $HOME"; echo oops >&2; exit 3`, []string{"SOKU_PATTERN=ultra / 16"})
	dir, _ := filepath.EvalSymlinks(s.Dir)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error is %v", err)
	}
	lines := strings.Split(string(out), "\n")
	if !strings.HasSuffix(lines[0], filepath.Base(dir)) || !strings.HasPrefix(lines[1], "demo ultra / 16 /") || lines[2] != "oops" {
		t.Errorf("output is %q", out)
	}
}

func TestThePlanChoosesTheShell(t *testing.T) {
	s := shell(t)
	s.Argv = []string{"echo", "-n", "said:"}
	out, err := s.Run(t.Context(), "a b", nil)
	if err != nil || string(out) != "said: a b" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	out, err := shell(t).Run(t.Context(), "yes | head -c 1000000; echo end", nil)
	if err != nil || len(out) != 64<<10 || !strings.HasSuffix(string(out), "end\n") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestEndingTheContextEndsTheCommandAndItsChildren(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s := shell(t)
	begin := time.Now()
	_, err := s.Run(ctx, "sleep 60 & sleep 60; wait", nil)
	if err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("ended after %s with %v", time.Since(begin), err)
	}
}

func TestACommandMayLeaveAProcessRunning(t *testing.T) {
	begin := time.Now()
	out, err := shell(t).Run(t.Context(), "sleep 5 & echo started", nil)
	if err != nil || string(out) != "started\n" || time.Since(begin) > 4*time.Second {
		t.Errorf("%q, %v after %s", out, err, time.Since(begin))
	}
}
