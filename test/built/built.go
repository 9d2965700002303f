// Package built builds the programs under test, once for all tests of a package.
package built

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// folder has the program that is built here.
var folder string

// Main runs the tests of a package, and then deletes what was built for them. It is the
// TestMain of each package that uses [Program].
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is [Main] without the end of the process: it returns the exit status.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "soku-built-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder = dir
	if err := os.Setenv("SOKU_LANG", "en"); err != nil { // whatever LANG is here
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Program is the path of the program under test: of SOKU_PROGRAM, where it cannot be built
// (make wine), or built here.
func Program(t testing.TB) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var program = sync.OnceValues(func() (string, error) {
	if file := os.Getenv("SOKU_PROGRAM"); file != "" {
		return file, nil
	}
	return build("soku")
})

// Hub is the path of the hub's program.
func Hub(t testing.TB) string {
	t.Helper()
	file, err := hub()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var hub = sync.OnceValues(func() (string, error) { return build("soku-hub") })

func build(name string) (string, error) {
	file := filepath.Join(folder, name+".exe") // Windows needs the extension
	build := exec.CommandContext(context.Background(), "go", "build", "-o", file, "soku/cmd/"+name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return file, nil
}
