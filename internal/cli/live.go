package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/tests"
	"soku/internal/text"
	"soku/internal/wire"
)

// live shows a test that a person runs by hand: interval lines while it runs
// and the summary after it, or their JSON forms.
type live struct {
	out, err  io.Writer
	catalogue *text.Catalogue
	columns   func() int // of out
	flags     *measureFlags
	test      measure.Test
	host      string
	head      bool   // the table's head has been printed
	last      string // last state that was printed
	view      *traceView
	search    *mtuView
}

func newLive(sys *System, test measure.Test, host string, f *measureFlags) *live {
	return &live{out: sys.Stdout, err: sys.Stderr, catalogue: sys.Catalogue, columns: sys.StdoutWidth, flags: f, test: test, host: host,
		view:   &traceView{terminalLines: sys.stdoutLines()},
		search: &mtuView{w: sys.Stdout, catalogue: sys.Catalogue, width: sys.StdoutWidth},
	}
}

// state prints that the trial must wait; no other state needs the user's attention.
func (l *live) state(s wire.State) {
	line := ""
	if s.Name == "queued" {
		line = l.catalogue.Sentence("live.queued", text.Args{"Before": max(0, s.Position-1)})
	}
	if line != "" && line != l.last {
		fmt.Fprintln(l.err, line)
	}
	l.last = line
}

func (l *live) observe(p measure.Progress) {
	switch {
	case l.flags.jsonStream:
		_ = writeEvent(l.out, "interval", p)
	case l.flags.forPerson():
		l.intervalLine(p)
	}
}

// foreign reports whether the server is another tool's, which reports nothing while the
// test runs: what this end sends is then all there is to show of a direction.
func (l *live) foreign() bool {
	via := l.flags.options.Via
	return via != "" && via != option.ViaSoku
}

// trace shows the hops that are known so far.
func (l *live) trace(t *measure.Trace) {
	switch {
	case l.flags.jsonStream:
		_ = writeEvent(l.out, "trace", t)
	case l.flags.forPerson():
		l.view.draw(l.host, t)
	}
}

// mtu shows what is asked now.
func (l *live) mtu(s measure.MTUStep) {
	switch {
	case l.flags.jsonStream:
		_ = writeEvent(l.out, "mtu", s)
	case l.flags.forPerson():
		l.search.draw(l.host, s)
	}
}

func (l *live) intervalLine(p measure.Progress) {
	sender := p.Role == measure.Sender
	if sender && !l.foreign() {
		return // the receiver's line says the same and counts
	}
	d := tests.Of(l.test)
	if d.Live == nil {
		return
	}
	both := l.flags.options.Direction == measure.Bidirectional
	if !l.head {
		l.head = true
		widths, heads := []int{-15}, []string{l.catalogue.Sentence("live.time", nil)}
		if both {
			widths, heads = append(widths, -8), append(heads, l.catalogue.Sentence("live.direction", nil))
		}
		for _, c := range l.columnsOf(d, l.foreign() && l.sendsFirst()) {
			widths, heads = append(widths, c.Width), append(heads, l.catalogue.Heading(c.Head))
		}
		fmt.Fprintln(l.out, cells(widths, heads...))
	}
	widths, texts := []int{-15}, []string{fmt.Sprintf("%6.1f–%.1f s", float64(p.StartNs)/1e9, float64(p.EndNs)/1e9)}
	if both {
		widths, texts = append(widths, -8), append(texts, l.catalogue.Where(measure.Where(p.Direction)))
	}
	for _, c := range l.columnsOf(d, sender) {
		widths, texts = append(widths, c.Width), append(texts, c.Cell(l.catalogue, p))
	}
	fmt.Fprintln(l.out, strings.TrimRight(cells(widths, texts...), " "))
}

// sendsFirst reports whether this end sends the first direction that is shown.
func (l *live) sendsFirst() bool { return l.flags.options.Direction != measure.Reverse }

func (l *live) columnsOf(d *tests.Descriptor, sender bool) []tests.Column {
	return d.Live(tests.View{Options: l.flags.options, Sender: sender})
}

// finish prints the result. A trial that measured nothing leaves its sentence
// to the error line alone.
func (l *live) finish(r *measure.Result, saved bool) error {
	switch {
	case l.flags.jsonStream:
		return writeEvent(l.out, "result", r)
	case l.flags.json:
		return printJSON(l.out, r)
	case l.flags.brief:
		return nil
	}
	l.view.end(r.Trace)
	l.search.clear()
	if r.Error != nil && !r.Counted() && (r.Latency == nil || r.Latency.Sent == 0) {
		return nil
	}
	if l.head {
		fmt.Fprintln(l.out)
	}
	printSummary(l.catalogue, l.out, l.columns(), r)
	if l.flags.rows {
		printRows(l.catalogue, l.out, r.Latency)
	}
	if l.flags.table == ethrName {
		if err := printEthrTable(l.out, r.Latency); err != nil {
			return err
		}
	}
	if saved {
		var kept text.Lines
		kept.Row("label.stored", "shown.kept", text.Args{"Result": r.ID})
		printLines(l.catalogue, l.out, 0, kept)
	}
	return nil
}

// end prints the last line of a test that succeeded: when, what and the figure. The lines with
// which ping ends come behind it, because programs read the last one.
func (l *live) end(r *measure.Result) {
	switch {
	case l.flags.brief && r.Error == nil:
		fmt.Fprintln(l.out, l.catalogue.Sentence("summary.headline", headlineArgs(l.catalogue, r)))
	case l.flags.forPerson():
		if r.Error == nil {
			var last text.Lines
			last.Row("label.result", "summary.headline", headlineArgs(l.catalogue, r))
			printLines(l.catalogue, l.out, 0, last)
		}
		printPingStatistics(l.out, r)
	}
}

// mtuView writes one line over and over on a terminal while the search runs.
// Elsewhere it writes nothing.
type mtuView struct {
	w         io.Writer
	catalogue *text.Catalogue
	width     func() int
	drawn     bool
}

func (v *mtuView) draw(host string, s measure.MTUStep) {
	width := v.width()
	if width <= 0 {
		return
	}
	line := liveLine(host, width-1, func(host string) string { // the last column would wrap
		return v.catalogue.Sentence("live.mtu", text.Args{"Host": host, "Hop": s.Hop, "Passed": s.Passed, "Failed": s.Failed, "Size": s.Asking, "Flow": s.Flow + 1, "Flows": s.Flows})
	})
	printable.Draw(v.w, beginLine, line, endLine)
	v.drawn = true
}

// clear takes the line away.
func (v *mtuView) clear() {
	if v.drawn {
		printable.Draw(v.w, beginLine, endLine)
		v.drawn = false
	}
}

// traceView draws the table of hops on a terminal. Elsewhere it prints each hop once, when it is
// known: the table comes with the summary.
type traceView struct {
	terminalLines
	listed int // hops that were printed
}

func (v *traceView) draw(host string, t *measure.Trace) {
	width := v.width()
	if width <= 0 {
		v.list(t, false)
		return
	}
	v.terminalLines.draw(append([]string{traceHead(v.catalogue, host, t, width-1)}, fitted(v.catalogue, tests.TraceTable(v.catalogue, t), width-1)...))
}

// traceHead says what runs. On a narrow terminal it does without how to end.
func traceHead(c *text.Catalogue, host string, t *measure.Trace, width int) string {
	long := printable.Line(c.Sentence("live.trace.long", text.Args{"Host": host, "Round": t.Rounds, "Probes": t.Sent, "Outstanding": t.Outstanding}))
	if terminal.StringWidth(long) <= width {
		return long
	}
	return liveLine(host, width, func(host string) string {
		return c.Sentence("live.trace.short", text.Args{"Host": host, "Round": t.Rounds, "Probes": t.Sent, "Outstanding": t.Outstanding})
	})
}

// dispensable are columns of the table of hops, what a narrow terminal does without
// first.
var dispensable = []string{"head.deviation", "head.last", "head.flows", "head.best", "head.worst", "head.sent"}

// fitted is the table of hops without the columns that there is no room for.
func fitted(c *text.Catalogue, rows [][]string, width int) []string {
	lines := tests.AlignedTrace(c, rows)
	for _, key := range dispensable {
		if !slices.ContainsFunc(lines, func(line string) bool { return terminal.StringWidth(line) > width }) {
			break
		}
		column := slices.Index(rows[0], c.Heading(key))
		for i, row := range rows {
			if column < len(row) {
				rows[i] = slices.Delete(row, column, column+1)
			}
		}
		lines = tests.AlignedTrace(c, rows)
	}
	return lines
}

// list prints the hops that were not printed yet, up to one that may still answer.
func (v *traceView) list(t *measure.Trace, ended bool) {
	for ; v.listed < len(t.Hops); v.listed++ {
		h := &t.Hops[v.listed]
		if len(h.Nodes) == 0 && t.Rounds < 2 && !ended {
			return
		}
		nodes := make([]string, len(h.Nodes))
		for i := range h.Nodes {
			nodes[i] = v.catalogue.Sentence("live.trace.node", text.Args{"Node": v.catalogue.SentenceOf(text.TraceNode(&h.Nodes[i])), "RTT": h.Nodes[i].LastNs})
		}
		fmt.Fprintln(v.w, printable.Line(v.catalogue.Sentence("live.trace.hop", text.Args{"Hop": fmt.Sprintf("%3d", h.Hop), "Nodes": nodes})))
	}
}

// end takes the live table away, or prints the hops that are left of a list that was begun.
func (v *traceView) end(t *measure.Trace) {
	switch {
	case v.drawn > 0:
		v.clear()
	case v.listed > 0 && t != nil:
		v.list(t, true)
		fmt.Fprintln(v.w)
	}
}
