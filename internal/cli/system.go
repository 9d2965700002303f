package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"soku/internal/agent"
	"soku/internal/browser"
	"soku/internal/campaign/journal"
	"soku/internal/doctor"
	"soku/internal/durable"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/process"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/text"

	"golang.org/x/term"
)

// System is everything a command takes from the operating system, so that the
// whole command line runs in memory in tests. Nothing else in this package
// touches package os.
type System struct {
	Args   []string // without the program's name
	Called string   // the program's name as it was called, without folder and ".exe"
	PID    int      // of this process
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Catalogue makes the sentences that people read, in the language of --lang once that is parsed.
	Catalogue *text.Catalogue

	Getenv     func(string) string
	Open       func(string) (fs.File, error)
	Stat       func(string) (fs.FileInfo, error)
	WriteFile  func(name string, data []byte, perm os.FileMode) error
	TryWrite   func(name string) error                   // fails as WriteFile would, and leaves no file
	Create     func(name string) (io.WriteCloser, error) // makes the file, or empties it
	Append     func(name string) (io.WriteCloser, error) // makes the file, or adds to it
	Remove     func(name string) error
	MkdirAll   func(string, os.FileMode) error
	Executable func() (string, error) // path of this program, to start itself again
	Uname      func() string          // the system, approximately as "uname -a" prints it
	Now        func() time.Time
	Hostname   func() string
	// Detach starts a process that outlives this one; errors.ErrUnsupported where
	// the system has no way.
	Detach func(name string, args ...string) error

	// OpenStore opens the store at an address, today the path of a file. The caller closes it.
	OpenStore func(ctx context.Context, address string) (store.Store, error)
	// OpenJournals returns the journals at an address, today the path of a folder.
	OpenJournals func(address string) journal.Backend

	// Command makes a process that dies with ctx.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	// Interrupts gets SIGINT, SIGTERM and SIGHUP. The first one cancels the running command,
	// which then ends in good order.
	Interrupts <-chan os.Signal
	// EndOnSignal makes the next SIGINT or SIGTERM end the process immediately.
	EndOnSignal func()
	// Width is the columns of the terminal behind Stderr, 0 when it is none.
	Width func() int
	// StdoutWidth is the same of Stdout.
	StdoutWidth func() int
	// StdoutHeight is how many lines the terminal behind Stdout has, 0 when it is none.
	StdoutHeight func() int
	// ReadPassword reads a line of the terminal behind Stdin without showing it; an
	// error where that is none.
	ReadPassword func() (string, error)
	// StdinTerminal reports whether Stdin is a terminal, so that a person can be asked.
	StdinTerminal func() bool
	// Username is the name of the user who runs the program, or "" if the system does not
	// report it.
	Username func() string
	// Settings are those of this host that soku doctor may change.
	Settings doctor.Settings
	// Root reports whether the process may make network namespaces.
	Root bool
	// DataDir is the folder of the store and the journals unless a flag names another, or ""
	// if none is known.
	DataDir string
}

// Real is the System of a real process.
func Real() *System {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	return &System{
		Args: os.Args[1:], Called: called(os.Args[0]), PID: os.Getpid(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Catalogue: environmentCatalogue(os.Getenv),
		Getenv:    os.Getenv, WriteFile: durable.WriteFile, TryWrite: durable.Try, MkdirAll: os.MkdirAll,
		Open: func(name string) (fs.File, error) { return os.Open(name) }, Stat: os.Stat,
		Create: func(name string) (io.WriteCloser, error) {
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		},
		Append: appendTo, Remove: os.Remove, Uname: host.Uname,
		Executable: os.Executable, Now: time.Now, Command: exec.CommandContext,
		OpenStore: openStoreFile, OpenJournals: journalsIn,
		Hostname: hostname, Detach: startDetached,
		Interrupts: interrupts, EndOnSignal: func() { signal.Reset(os.Interrupt, syscall.SIGTERM) },
		Width:        func() int { w, _ := size(os.Stderr); return w },
		StdoutWidth:  func() int { w, _ := size(os.Stdout); return w },
		StdoutHeight: func() int { _, h := size(os.Stdout); return h },
		ReadPassword: func() (string, error) {
			b, err := term.ReadPassword(int(os.Stdin.Fd()))
			return string(b), err
		},
		StdinTerminal: func() bool { return term.IsTerminal(int(os.Stdin.Fd())) },
		Username:      func() string { return username(os.Getenv) },
		Settings:      doctor.SystemSettings(),
		Root:          os.Geteuid() == 0,
		DataDir:       dataDir(os.Getenv, runtime.GOOS, accountHome),
	}
}

func openStoreFile(ctx context.Context, path string) (store.Store, error) {
	return sqlite.Open(ctx, path)
}

func journalsIn(path string) journal.Backend { return journal.Folder(path) }

// mostFileBytes is the size of the largest file that a person writes: plans, rules, users and
// bundles of certificates are far smaller.
const mostFileBytes = 4 << 20

// ReadFile reads a file of at most [mostFileBytes]. It may be a pipe or a device without an end.
func (s *System) ReadFile(name string) ([]byte, error) {
	data, _, err := s.readStart(name, mostFileBytes)
	if len(data) > mostFileBytes {
		return nil, measure.Fail(measure.KindFile, "cli.file.too_large", measure.Figures{"file": name, "most_bytes": mostFileBytes})
	}
	return data, err
}

// readStart reads a file to its end, or most bytes of it and one more.
func (s *System) readStart(name string, most int64) (data []byte, info fs.FileInfo, err error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err == nil {
		data, err = io.ReadAll(io.LimitReader(f, most+1))
	}
	return data, info, err
}

// ownStreams reports whether the streams are those of the process, which then
// may become another program without losing its output.
func (s *System) ownStreams() bool {
	return s.Stdin == os.Stdin && printable.Unfiltered(s.Stdout) == os.Stdout && printable.Unfiltered(s.Stderr) == os.Stderr
}

// self is how this program starts itself again.
func (s *System) self() agent.Self { return agent.Self{Executable: s.Executable, Make: s.Command} }

// browser is the browser of this host.
func (s *System) browser() browser.Browser {
	return browser.Browser{Getenv: s.Getenv, Command: s.Command, Root: s.Root}
}

// appendPrintable is Append for a log, which a person reads on a terminal later.
func (s *System) appendPrintable(name string) (io.WriteCloser, error) {
	f, err := s.Append(name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Writer
		io.Closer
	}{printable.NewWriter(f), f}, nil
}

// drawsOnStdout reports whether Stdout is a terminal on which lines can be drawn over.
func (s *System) drawsOnStdout() bool { return s.StdoutWidth() > 0 && s.Getenv("TERM") != "dumb" }

// stdoutLines are lines at the bottom of the terminal behind Stdout.
func (s *System) stdoutLines() terminalLines {
	return terminalLines{w: s.Stdout, catalogue: s.Catalogue, width: s.StdoutWidth, height: s.StdoutHeight}
}

// warnReadable warns of a file with a secret that every user of this host can read. It is no error:
// containers get their secrets in such files. On Windows the mode does not show who can read.
func (s *System) warnReadable(file string) {
	if info, err := s.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 && runtime.GOOS != "windows" {
		fmt.Fprintln(s.Stderr, s.Catalogue.Sentence("secret.readable", text.Args{"File": file}))
	}
}

// called is a program's name in the path that started it.
func called(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

func appendTo(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

func hostname() string {
	name, _ := os.Hostname()
	return name
}

func size(f *os.File) (width, height int) {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return w, h
}

// username is the user's login name.
func username(getenv func(string) string) string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return cmp.Or(getenv("USER"), getenv("USERNAME"))
}

// dataDir is where this process keeps what it stores, or empty if no folder is known. In this
// order: SOKU_DATA; on Windows %LocalAppData%; the first folder of STATE_DIRECTORY, which systemd
// gives a service; XDG_DATA_HOME; the data folder below HOME or, where that is not set, below
// the home folder of the user database. Except for SOKU_DATA a relative path is ignored, as the
// XDG Base Directory Specification says.
func dataDir(getenv func(string) string, goos string, accountHome func() string) string {
	if d := getenv("SOKU_DATA"); d != "" {
		return d
	}
	home := func(below ...string) string {
		for _, find := range []func() string{func() string { return getenv("HOME") }, accountHome} {
			if dir := find(); filepath.IsAbs(dir) {
				return filepath.Join(append([]string{dir}, below...)...)
			}
		}
		return ""
	}
	if goos == "windows" {
		if dir := getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "soku")
		}
		return home("AppData", "Local", "soku")
	}
	if dirs := filepath.SplitList(getenv("STATE_DIRECTORY")); len(dirs) > 0 && filepath.IsAbs(dirs[0]) {
		return dirs[0]
	}
	if goos == "darwin" {
		return home("Library", "Application Support", "soku")
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "soku")
	}
	return home(".local", "share", "soku")
}

// accountHome is the home folder that the user database has for the user of this process; empty
// where the user has no entry.
func accountHome() string {
	u, err := user.Current() // asks the environment only for a user without an entry
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// needDataDir fails if no data folder is known.
func (s *System) needDataDir() error {
	if s.DataDir == "" {
		return measure.Fail(measure.KindUsage, "cli.data_folder", nil)
	}
	return nil
}

// detachedName is the variable by which a program knows that [detach] started it.
const detachedName = "SOKU_DETACHED"

// startDetached starts a process that outlives this one and knows that it is
// detached.
func startDetached(name string, args ...string) error {
	return process.StartDetached([]string{detachedName + "=1"}, name, args...)
}
