package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
)

// likeVersion is the version of iperf3 whose options, text and documents these are.
const likeVersion = "3.21"

// Environment is what a run needs from the operating system.
type Environment struct {
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Version        string // of soku
	System         string // as uname -a has it
	PID            int
	Getenv         func(string) string
	// ReadPassword reads a line from the terminal without echo; an error if there is no
	// terminal.
	ReadPassword func() (string, error)
	ReadFile     func(file string) ([]byte, error)
	Open         func(file string) (fs.File, error)
	Stat         func(file string) (fs.FileInfo, error)
	Create       func(file string) (io.WriteCloser, error) // truncates an existing file
	Append       func(file string) (io.WriteCloser, error) // opens a log
	WriteFile    func(file string, b []byte) error
	Remove       func(file string) error
	// Detach starts this program with these arguments as a daemon, without a terminal.
	// Detached reports that this process is the daemon.
	Detach   func(args []string) error
	Detached bool
}

func (e Environment) program() Program {
	return Program{fmt.Sprintf("iperf %s (soku %s)", likeVersion, e.Version), e.System}
}

// Run acts as iperf3 with these arguments and returns its exit status: 0, or 1 on
// failure. Ending ctx interrupts it, which is not a failure.
func Run(ctx context.Context, env Environment, args []string) int {
	set, err := Parse(args)
	switch {
	case err != nil:
		refuse(env, err)
		return 1
	case set.ShowHelp:
		fmt.Fprint(env.Stdout, Help())
		return 0
	case set.ShowVersion:
		p := env.program()
		fmt.Fprintf(env.Stdout, "%s\n%s\nOptional features available: CPU affinity setting, TCP congestion algorithm setting, sendfile / zerocopy, bind to device\n",
			p.Version, p.System)
		return 0
	}
	warn(env, set)
	if set.Daemon && !env.Detached {
		if err := env.Detach(args); err != nil {
			fmt.Fprintf(env.Stderr, "iperf3: error - unable to become a daemon: %s\n", oneLine(err))
			return 1
		}
		return 0
	}
	r := &runner{env: env, set: set, out: env.Stdout, errs: env.Stderr}
	closeAll, err := r.open()
	if err != nil {
		fmt.Fprintf(env.Stderr, "iperf3: error - %s\n", oneLine(err))
		return 1
	}
	defer closeAll()
	if set.Role == Server {
		return r.serve(ctx)
	}
	return r.measure(ctx)
}

// refuse reports an error of the command line.
func refuse(env Environment, err error) {
	var u unrecognized
	what := "parameter error - "
	if errors.As(err, &u) {
		what = ""
	}
	fmt.Fprintf(env.Stderr, "iperf3: %s%s\n\n%s", what, oneLine(err), Usage)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// warn reports options that have no effect together.
func warn(env Environment, set *Settings) {
	say := func(text string) { fmt.Fprintf(env.Stderr, "warning: %s\n", text) }
	if set.NoFQPacing {
		fmt.Fprintln(env.Stdout, "Warning:  --no-fq-socket-pacing is deprecated")
	}
	if set.JSON && set.Format != 'a' {
		say("Report format (-f) flag ignored with JSON output (-J)")
	}
	if set.JSON && set.Verbose {
		say("Verbose output (-V) changes nothing with JSON output (-J)")
	}
	if set.JSON && set.Debug > 0 {
		say("Debug output (-d) changes nothing with JSON output (-J)")
	}
	if set.JSON && set.Timestamps != "" {
		say("Timestamps (--timestamps) change nothing with JSON output (-J)")
	}
}

// runner is one run of the program.
type runner struct {
	env       Environment
	set       *Settings
	out, errs io.Writer // of one test
}

// open creates the files that the options name, and returns a function to close them.
func (r *runner) open() (closeAll func(), err error) {
	closeAll = func() {}
	if r.set.LogFile != "" {
		f, err := r.env.Append(r.set.LogFile)
		if err != nil {
			return closeAll, measure.TextError(measure.KindStore, "unable to open log file: "+err.Error(), "")
		}
		r.out, r.errs = f, f
		closeAll = func() { _ = f.Close() } // every line was written already
	}
	if r.set.PIDFile == "" {
		return closeAll, nil
	}
	if err := r.env.WriteFile(r.set.PIDFile, []byte(strconv.Itoa(r.env.PID))); err != nil {
		closeAll()
		return func() {}, measure.TextError(measure.KindStore, "unable to write PID file: "+err.Error(), "")
	}
	closeLog := closeAll
	return func() {
		_ = r.env.Remove(r.set.PIDFile)
		closeLog()
	}, nil
}

// newWriter is for the next test.
func (r *runner) newWriter() Writer {
	if r.set.JSON {
		return newJSON(r.out, r.set)
	}
	return newText(r.out, r.errs, r.set, r.env.Now)
}
