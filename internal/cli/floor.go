package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/floor"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/version"
)

type floorFlags struct {
	quick, json, show, noSave bool
}

func newFloorCommand(sys *System) *cobra.Command {
	f := floorFlags{}
	cmd := &cobra.Command{
		Use:   "floor",
		Short: "Measure the loopback baseline of this host",
		Long: `Measures what this host and program reach over loopback, against a soku server
in a second process: round trips, goodput, packets per second, and how late
short sleeps end. The result is stored; tests from this host then report when a
figure is near this limit.`,
		Example: `  soku floor
  soku floor --quick --no-save
  soku floor --show
  soku floor --json | jq .goodput`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.show {
				return showFloor(cmd.Context(), sys, f.json)
			}
			return measureFloor(cmd.Context(), sys, f)
		},
	}
	cmd.Flags().BoolVar(&f.quick, "quick", false, "about 2 s instead of 7 s; less precise")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the whole document")
	cmd.Flags().BoolVar(&f.show, "show", false, "print the stored loopback baseline of this host without measuring")
	cmd.Flags().BoolVar(&f.noSave, "no-save", false, "do not store the baseline")
	cmd.MarkFlagsMutuallyExclusive("show", "quick")
	cmd.MarkFlagsMutuallyExclusive("show", "no-save")
	return cmd
}

func measureFloor(ctx context.Context, sys *System, f floorFlags) (err error) {
	if err := sys.needDataDir(); err != nil && !f.noSave {
		return err
	}
	s, err := agent.StartLoopbackServer(ctx, sys.self(), sys.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	d, err := floor.Measure(ctx, floor.Config{
		Server: s.Address, Version: version.String(), Quick: f.quick,
		Step: func(what text.Line, number, of int) {
			fmt.Fprintf(sys.Stderr, "[%d/%d] %s\n", number, of, sys.Catalogue.SentenceOf(what))
		},
	})
	if err != nil {
		return err
	}
	kept, keepErr := "", error(nil)
	if !f.noSave {
		kept, keepErr = keepFloor(sys, d)
	}
	if f.json {
		err = printJSON(sys.Stdout, d)
	} else {
		var b bytes.Buffer
		printFloor(sys.Catalogue, &b, sys.StdoutWidth(), d)
		if kept != "" {
			var out text.Lines
			out.Row("label.stored", "summary.text", text.Args{"Text": kept})
			fmt.Fprintln(&b)
			printLines(sys.Catalogue, &b, 0, out)
		}
		_, err = sys.Stdout.Write(b.Bytes())
	}
	return errors.Join(err, keepErr)
}

// keepFloor writes the floor where tests from this host find it.
func keepFloor(sys *System, d *floor.Document) (file string, err error) {
	b, err := d.Encode()
	if err == nil {
		file = floorFile(sys, d.Host.Hostname)
		if err = sys.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = sys.WriteFile(file, b, 0o644)
		}
	}
	if err != nil {
		return "", measure.Fail(measure.KindStore, "cli.baseline.store", measure.Figures{"cause": err})
	}
	return file, nil
}

func floorFile(sys *System, hostname string) string {
	return filepath.Join(sys.DataDir, floor.File(hostname))
}

// readFloor reads the stored loopback baseline of a host, or returns nil if there is none.
func readFloor(sys *System, hostname string) (*floor.Document, error) {
	if sys.DataDir == "" {
		return nil, nil
	}
	b, err := sys.ReadFile(floorFile(sys, hostname))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "cli.baseline.read", measure.Figures{"cause": err})
	}
	return floor.Decode(b)
}

// storedBaseline finds the stored loopback baseline of the host that a trial runs on.
// It passes the reason to report if there is one that cannot be used.
func storedBaseline(sys *System, report func(string)) func(measure.Facts) *measure.HostFloor {
	return func(f measure.Facts) *measure.HostFloor {
		d, err := readFloor(sys, f.Hostname)
		switch {
		case err != nil:
			report(sys.Catalogue.Sentence("floor.unused", text.Args{"Why": errorText(sys.Catalogue, err)}))
			return nil
		case d == nil:
			return nil
		}
		if why, usable := d.Usable(f, version.String()); !usable {
			report(printable.Line(sys.Catalogue.Sentence("floor.unused.outdated", text.Args{"Why": sys.Catalogue.SentenceOf(why)})))
			return nil
		}
		return &d.HostFloor
	}
}

func showFloor(ctx context.Context, sys *System, asJSON bool) error {
	if err := sys.needDataDir(); err != nil {
		return err
	}
	facts := host.Facts(ctx, netip.Addr{})
	d, err := readFloor(sys, facts.Hostname)
	if err != nil {
		return err
	}
	if d == nil {
		return measure.Fail(measure.KindNotFound, "cli.baseline.none", measure.Figures{"folder": sys.DataDir})
	}
	if asJSON {
		return printJSON(sys.Stdout, d)
	}
	var b bytes.Buffer
	printFloor(sys.Catalogue, &b, sys.StdoutWidth(), d)
	if why, usable := d.Usable(facts, version.String()); !usable {
		fmt.Fprintln(&b)
		var out text.Lines
		out.Row("label.outdated", "floor.outdated", text.Args{"Why": sys.Catalogue.SentenceOf(why)})
		printLines(sys.Catalogue, &b, sys.StdoutWidth(), out)
	}
	for line := range bytes.Lines(b.Bytes()) {
		fmt.Fprintln(sys.Stdout, printable.Line(string(bytes.TrimRight(line, "\n"))))
	}
	return nil
}
