package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/durable"
	"soku/internal/server"
	serverethr "soku/internal/server/ethr"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/text"
	"soku/test/output"
)

// fakeSystem is a System in memory with a data folder of its own; the file
// functions are the real ones, on the test's own folders.
func fakeSystem(t testing.TB, args ...string) (*System, *bytes.Buffer, *output.Buffer) {
	t.Helper()
	var out bytes.Buffer
	errs := &output.Buffer{}
	return &System{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: errs, Catalogue: text.English(),
		Getenv: func(string) string { return "" }, WriteFile: durable.WriteFile, TryWrite: durable.Try, MkdirAll: os.MkdirAll,
		Open:   func(name string) (fs.File, error) { return os.Open(name) },
		Stat:   os.Stat,
		Create: func(name string) (io.WriteCloser, error) { return os.Create(name) },
		Append: appendTo, Remove: os.Remove, Uname: func() string { return "Linux test" }, Called: "soku", PID: 4711,
		Executable: os.Executable, Now: time.Now, Command: exec.CommandContext,
		OpenStore: openStoreFile, OpenJournals: journalsIn,
		Hostname: hostname, Detach: startDetached, EndOnSignal: func() {},
		Width: func() int { return 0 }, StdoutWidth: func() int { return 0 }, StdoutHeight: func() int { return 0 },
		ReadPassword:  func() (string, error) { return "", errors.ErrUnsupported },
		StdinTerminal: func() bool { return false }, Username: func() string { return "tester" },
		Root: os.Geteuid() == 0, DataDir: filepath.Join(t.TempDir(), "data"),
	}, &out, errs
}

// soku runs one command line in memory.
func soku(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	sys, out, errs := fakeSystem(t, args...)
	code = Run(sys)
	return out.String(), errs.String(), code
}

// startServer runs a real server on a free port until the test ends and returns
// its host:port.
func startServer(t testing.TB, change func(*server.Config)) string {
	t.Helper()
	cfg := server.Config{
		Listen: "127.0.0.1:0", MaxClients: 100, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Foreign: []server.Foreign{{Protocol: serverethr.New(serverethr.Hooks{})}, {Protocol: serveriperf3.New(serveriperf3.Config{})}},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s.Addr().String()
}
