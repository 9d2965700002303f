package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/floor"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/text/messages"
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
	if !f.noSave {
		if err := sys.needDataDir(); err != nil {
			return err
		}
		if err := tryDataDir(sys); err != nil {
			return err
		}
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

// printFloor writes a floor for a person.
func printFloor(c *text.Catalogue, w io.Writer, columns int, d *floor.Document) {
	var head text.Lines
	head.Row("label.host", "summary.host", hostArgs(&measure.Host{Facts: d.Host}))
	head.Row("label.measured", "floor.measured", text.Args{
		"When": moment(d.MeasuredAt), "Version": d.Tool.Version, "Took": d.TookNs.Std().Round(100 * time.Millisecond), "Quick": d.Quick,
	})
	printLines(c, w, columns, head)
	printFloorRoundTrips(c, w, d)
	printFloorRates(c, w, d)
	printFloorTimers(c, w, d)
	if len(d.Findings) > 0 {
		fmt.Fprintln(w)
	}
	printFindings(c, labelled(w, labelColumns(c), columns), d.Findings)
}

// Widths of the tables of a floor, see [cells].
var (
	floorRoundTripWidths = []int{-22, 11, 11, 11, 11, 11, 9}
	floorRateWidths      = []int{-22, 14, 18, -22, 0}
	floorTimerWidths     = []int{-22, 11, 11, 11}
)

func printFloorRoundTrips(c *text.Catalogue, w io.Writer, d *floor.Document) {
	if len(d.RoundTrips) == 0 {
		return
	}
	printFloorHead(c, w, floorRoundTripWidths, "floor.round_trip", "floor.min", "floor.median", "floor.p99", "floor.p99_9", "floor.max", "floor.count")
	for _, t := range d.RoundTrips {
		p := t.RTT.Supported()
		fmt.Fprintln(w, cells(floorRoundTripWidths, c.Mode(t.Mode), latencyCell(p.Min), latencyCell(p.P50),
			latencyCell(p.P99), latencyCell(p.P999), latencyCell(p.Max), fmt.Sprint(p.Count)))
	}
}

func printFloorRates(c *text.Catalogue, w io.Writer, d *floor.Document) {
	unknown := c.Sentence("floor.unknown", nil)
	way := func(tx, rx string) string { return cmp.Or(tx, "?") + " → " + cmp.Or(rx, "?") }
	if len(d.Goodput) > 0 {
		printFloorHead(c, w, floorRateWidths, "floor.goodput", "floor.rate", "floor.core", "floor.way", "floor.congestion")
	}
	for _, g := range d.Goodput {
		core := unknown
		if g.BpsPerCore > 0 {
			core = messages.FormatRate(g.BpsPerCore)
		}
		fmt.Fprintln(w, cells(floorRateWidths, c.Mode(g.Mode), messages.FormatRate(g.GoodputBps), core, way(g.TXPath, g.RXPath), cmp.Or(g.Congestion, unknown)))
	}
	if len(d.Packets) > 0 {
		printFloorHead(c, w, floorRateWidths, "floor.packets", "floor.received", "floor.cpu", "floor.way", "floor.lost")
	}
	for _, p := range d.Packets {
		cpu := unknown
		if p.SenderNsPerPacket > 0 && p.ReceiverNsPerPacket > 0 {
			cpu = messages.FormatLatency(p.SenderNsPerPacket + p.ReceiverNsPerPacket)
		}
		lost := unknown
		if p.LossRatio != nil {
			lost = c.Sentence("floor.loss", text.Args{"Ratio": *p.LossRatio})
		}
		fmt.Fprintln(w, cells(floorRateWidths, c.Sentence("floor.packets.mode", text.Args{"Mode": p.Mode, "Size": p.SizeBytes}),
			c.Sentence("floor.packets.rate", text.Args{"Rate": p.PacketsPerSecond}), cpu, way(p.TXPath, p.RXPath), lost))
	}
}

func printFloorTimers(c *text.Catalogue, w io.Writer, d *floor.Document) {
	if len(d.Timers) == 0 {
		return
	}
	printFloorHead(c, w, floorTimerWidths, "floor.sleep", "floor.median", "floor.p99", "floor.max")
	for _, t := range d.Timers {
		fmt.Fprintln(w, cells(floorTimerWidths, time.Duration(t.AskedNs).String(),
			latencyCell(t.LateNs.P50), latencyCell(t.LateNs.Supported().P99), latencyCell(t.LateNs.Max)))
	}
}

// printFloorHead writes the headings of a table, by their keys, below a blank line.
func printFloorHead(c *text.Catalogue, w io.Writer, widths []int, keys ...string) {
	fmt.Fprintf(w, "\n%s\n", cells(widths, c.Headings(keys...)...))
}
