package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/test/built"
	"soku/test/output"
)

// waits is for what a process does in a second when the machine is idle.
const waits = 60 * time.Second

// start runs a program until the test ends, with SIGTERM, and fails if it ends with another code than 0.
func start(t testing.TB, name string, env []string, program string, args ...string) *output.Buffer {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), env...)
	return run(t, name, c)
}

// run does it with a command. It returns what the program writes.
func run(t testing.TB, name string, c *exec.Cmd) *output.Buffer {
	t.Helper()
	said := &output.Buffer{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(waits, func() { _ = c.Process.Kill() })
		defer late.Stop()
		if err := c.Wait(); err != nil {
			t.Errorf("%s ends: %v", name, err)
		}
		if t.Failed() {
			t.Logf("%s: %s", name, said)
		}
	})
	return said
}

// await waits until a program has written words.
func await(t testing.TB, said *output.Buffer, words string) {
	t.Helper()
	select {
	case <-said.Has(words):
	case <-time.After(waits):
		t.Fatalf("%q does not come in %q", words, said)
	}
}

// hub is a hub that runs.
type hub struct {
	t   testing.TB
	env []string
}

// runHub starts a hub that listens at port of 127.0.0.1, and for NATS where no agent looks for it.
func runHub(t testing.TB, port, nats int, flags ...string) *hub {
	t.Helper()
	h := &hub{t, []string{"SOKU_DATA=" + t.TempDir()}}
	said := start(t, "hub", h.env, built.Hub(t), append([]string{
		"serve", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--listen-nats", fmt.Sprintf("127.0.0.2:%d", nats), "--name", "localhost"}, flags...)...)
	await(t, said, "admin-token")
	return h
}

// certificate is the file with that of the hub.
func (h *hub) certificate() string {
	_, data, _ := strings.Cut(h.env[0], "=")
	return filepath.Join(data, "hub", "certificate.pem")
}

// command is the output of a command of soku-hub.
func (h *hub) command(args ...string) string {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), 2*waits)
	defer stop()
	c := exec.CommandContext(ctx, built.Hub(h.t), args...)
	c.Env = append(os.Environ(), h.env...)
	out, err := c.CombinedOutput()
	if err != nil {
		h.t.Fatalf("soku-hub %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// join is the command by which n agents join, as its arguments.
func (h *hub) join(n int) []string {
	h.t.Helper()
	var token struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(h.command("join", "--json", "--uses", fmt.Sprint(n))), &token); err != nil {
		h.t.Fatal(err)
	}
	args, ok := strings.CutPrefix(token.Command, "soku ")
	if !ok {
		h.t.Fatalf("the command is %q", token.Command)
	}
	return strings.Fields(args)
}
