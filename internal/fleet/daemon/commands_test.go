//go:build !windows

package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
)

func ordered(h *testHub, id string, c fleet.Command) fleet.Commanded {
	h.t.Helper()
	return order[fleet.Commanded](h, id, fleet.DownCommand, c)
}

// outcome waits until a command has ended.
func outcome(h *testHub, id, name string) fleet.Commanded {
	h.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if got := ordered(h, id, fleet.Command{ID: name}); !got.Running {
			return got
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the command %s does not end", name)
		}
	}
}

func code(e *measure.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

func TestACommandRunsOnlyWhereTheOwnerAllowsIt(t *testing.T) {
	h := newTestHub(t)
	_, id, c := agentOf(t, h, nil)
	made := filepath.Join(c.Folder, "made")
	if got := ordered(h, id, fleet.Command{ID: "a", Text: []byte("touch " + made)}); code(got.Error) != "daemon.policy.commands" || got.Running {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("it ran")
	}
}

func TestACommandRunsOnceWithItsLinesAndEnvironment(t *testing.T) {
	h := newTestHub(t)
	_, id, c := agentOf(t, h, func(c *Config) { c.Policy.Commands = true })
	gate, count := filepath.Join(c.Folder, "gate"), filepath.Join(c.Folder, "count")
	text := fmt.Sprintf("echo once >> %s\nuntil test -e %s; do sleep 0.01; done\nprintf '\\033[31m%%s' \"$SOKU_PATTERN\"\nexit 3", count, gate)
	o := fleet.Command{ID: "a", Text: []byte(text), Environment: []string{"SOKU_PATTERN=ultra / 16"}}
	for range 2 { // the answer to the first may be lost
		if got := ordered(h, id, o); !got.Running || got.Error != nil {
			t.Fatalf("%+v", got)
		}
	}
	if got := ordered(h, id, fleet.Command{ID: "b", Text: []byte("true")}); code(got.Error) != codeBusy {
		t.Errorf("a second one: %+v", got)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := outcome(h, id, "a"); string(got.Output) != "\x1b[31multra / 16" || got.Error == nil || got.Error.Error() != "exit status 3" {
		t.Errorf("%q, %v", got.Output, got.Error)
	}
	if got := ordered(h, id, o); got.Running {
		t.Errorf("it runs again: %+v", got)
	}
	if b, err := os.ReadFile(count); string(b) != "once\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestACommandIsEnded(t *testing.T) {
	h := newTestHub(t)
	_, id, _ := agentOf(t, h, func(c *Config) { c.Policy.Commands = true })
	ordered(h, id, fleet.Command{ID: "a", Text: []byte("sleep 60 & sleep 60")})
	ordered(h, id, fleet.Command{ID: "a", End: true})
	if got := outcome(h, id, "a"); code(got.Error) != "daemon.command.stopped" {
		t.Errorf("%+v", got)
	}
	ordered(h, id, fleet.Command{ID: "b", Text: []byte("sleep 60"), LimitNs: int64(50 * time.Millisecond)})
	if got := outcome(h, id, "b"); code(got.Error) != "campaign.command_timeout" {
		t.Errorf("%+v", got)
	}
	ordered(h, id, fleet.Command{ID: "c", Text: []byte("yes | head -c 1000000; echo end")})
	if got := outcome(h, id, "c"); got.Error != nil || len(got.Output) != fleet.MaxOutput || !strings.HasSuffix(string(got.Output), "end\n") {
		t.Errorf("%d bytes, %v", len(got.Output), got.Error)
	}
	if got := ordered(h, id, fleet.Command{ID: "a"}); code(got.Error) != "daemon.command.unknown" {
		t.Errorf("one of a process before: %+v", got)
	}
}

// An agent that is ended leaves no command behind.
func TestACommandEndsWithItsAgent(t *testing.T) {
	h := newTestHub(t)
	a, id, c := agentOf(t, h, func(c *Config) { c.Policy.Commands = true })
	pid := filepath.Join(c.Folder, "pid")
	ordered(h, id, fleet.Command{ID: "a", Text: []byte("echo $$ > " + pid + ".new && mv " + pid + ".new " + pid + "; sleep 600")})
	var text []byte
	for deadline := time.Now().Add(patience); len(text) == 0; text, _ = os.ReadFile(pid) {
		if time.Now().After(deadline) {
			t.Fatal("the command does not begin")
		}
	}
	a.end()
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(text))); err == nil {
		t.Error("it still runs")
	}
}
