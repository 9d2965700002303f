package ethr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"soku/internal/measure"
)

// Environment is what a run needs from the operating system.
type Environment struct {
	Stdout  io.Writer
	Now     func() time.Time
	Version string                                    // of soku
	Append  func(name string) (io.WriteCloser, error) // opens a log file
	// Size is the size of the terminal at Stdout, 0 if it is not a terminal; nil: none.
	Size func() (columns, lines int)
}

// Run runs a command line of Ethr until it is done or ctx ends, and returns the exit
// status: 0, or 1 for an invalid command line and a test that failed to start.
func Run(ctx context.Context, env Environment, args []string) int {
	fmt.Fprintf(env.Stdout, "\nEthr's commands by soku %s\n\n", env.Version)
	s, err := Parse(args)
	switch {
	case err != nil:
		fmt.Fprintf(env.Stdout, "Error: %s\nPlease see: soku ethr -h\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	case s.Help:
		help(env.Stdout)
		return 0
	}
	out := &output{out: env.Stdout, now: env.Now, title: s.Title, decimals: s.Decimals, verbose: s.Debug}
	if s.Log != "" {
		if out.file, err = env.Append(s.Log); err != nil {
			fmt.Fprintf(env.Stdout, "Error: the log file: %v\n", err)
			return 1
		}
	}
	if s.Server {
		err = serve(ctx, env, s, out)
	} else {
		err = measureAs(ctx, s, out)
	}
	status := 0
	if err != nil {
		status = 1
		if !errors.Is(err, errPrinted) {
			out.sayError("Error: %v", err)
		}
	}
	if err := out.close(); err != nil {
		fmt.Fprintf(env.Stdout, "Error: the log file: %v\n", err)
		return 1
	}
	return status
}

// help prints the table of options.
func help(w io.Writer) {
	fmt.Fprint(w, `Examples:
  soku ethr -s
  soku ethr -c vm2 -n 16 -d 30s
  soku ethr -c vm2 -t l
  soku ethr -x example.net:443 -t c
  soku ethr -x example.net -p icmp -t mtr

`)
	for _, section := range []struct {
		title string
		mode  int
	}{{"Server", asServer}, {"Client", asClient}, {"External: against what is no Ethr server", asExternal}} {
		fmt.Fprintf(w, "%s\n", section.title)
		for _, o := range options() {
			if o.modes&section.mode != 0 {
				fmt.Fprintf(w, "  %-18s %s\n", strings.TrimSpace("-"+o.name+" "+o.value), o.help)
			}
		}
		fmt.Fprintln(w)
	}
}

// done prints how a test ended. An interrupt and the end of the duration are not failures.
func (o *output) done(ctx context.Context, s Settings, err error) error {
	switch {
	case ctx.Err() != nil:
		o.say("Ethr done, received interrupt signal.")
		return nil //nolint:nilerr // what an interrupt did to the test is no failure of it
	case err != nil && measure.KindOf(err) == measure.KindBroken:
		o.say("Ethr done, connection terminated.")
		return err
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return err
	case err == nil && s.Test == "tr":
		o.say("Ethr done, measurement complete.")
		return nil
	}
	o.say("Ethr done, duration: %s.", s.Duration)
	o.say("Hint: Use -d parameter to change duration of the test.")
	return nil
}
