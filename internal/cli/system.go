package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"
)

// System is everything a command takes from the operating system, so that the
// whole command line runs in memory in tests. Nothing else in this package
// touches package os.
type System struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv     func(string) string
	ReadFile   func(string) ([]byte, error)
	WriteFile  func(name string, data []byte, perm os.FileMode) error
	MkdirAll   func(string, os.FileMode) error
	Executable func() (string, error) // path of this program, to start itself again
	Now        func() time.Time

	// Command makes a process that dies with ctx.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	// Interrupts gets SIGINT and SIGTERM. The first ends what runs in good
	// order, the second at once.
	Interrupts <-chan os.Signal
	// Width is the columns of the terminal behind Stderr, 0 when it is none.
	Width func() int
	// StdoutWidth is the same of Stdout.
	StdoutWidth func() int
	// Root reports whether the process may make network namespaces.
	Root bool
	// DataDir is where the store and the journals live unless a flag says otherwise.
	DataDir string
}

// Real is the System of a real process.
func Real() *System {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	return &System{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, ReadFile: os.ReadFile, WriteFile: os.WriteFile, MkdirAll: os.MkdirAll,
		Executable: os.Executable, Now: time.Now, Command: exec.CommandContext,
		Interrupts:  interrupts,
		Width:       func() int { return width(os.Stderr) },
		StdoutWidth: func() int { return width(os.Stdout) },
		Root:        os.Geteuid() == 0,
		DataDir:     dataDir(os.Getenv, runtime.GOOS),
	}
}

func width(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// dataDir is SOKU_DATA, or the user's data folder: XDG_DATA_HOME or
// ~/.local/share on Unix, ~/Library/Application Support on macOS, %LocalAppData% on Windows.
func dataDir(getenv func(string) string, goos string) string {
	if d := getenv("SOKU_DATA"); d != "" {
		return d
	}
	home := getenv("HOME")
	switch {
	case goos == "windows":
		return filepath.Join(getenv("LocalAppData"), "soku")
	case goos == "darwin":
		return filepath.Join(home, "Library", "Application Support", "soku")
	case getenv("XDG_DATA_HOME") != "":
		return filepath.Join(getenv("XDG_DATA_HOME"), "soku")
	}
	return filepath.Join(home, ".local", "share", "soku")
}
