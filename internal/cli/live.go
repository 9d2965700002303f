package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"soku/internal/measure"
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
		view:   &traceView{w: sys.Stdout, catalogue: sys.Catalogue, width: sys.StdoutWidth, height: sys.StdoutHeight},
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
		l.line(struct {
			Event    string           `json:"event"`
			Interval measure.Progress `json:"interval"`
		}{"interval", p})
	case !l.flags.json:
		l.intervalLine(p)
	}
}

// foreign reports whether the server is another tool's, which reports nothing while the
// test runs: what this end sends is then all there is to show of a direction.
func (l *live) foreign() bool {
	via := l.flags.options.Via
	return via != "" && via != measure.ViaSoku
}

// trace shows the hops that are known so far.
func (l *live) trace(t *measure.Trace) {
	switch {
	case l.flags.jsonStream:
		l.line(struct {
			Event string         `json:"event"`
			Trace *measure.Trace `json:"trace"`
		}{"trace", t})
	case !l.flags.json:
		l.view.draw(l.host, t)
	}
}

// mtu shows what is asked now.
func (l *live) mtu(s measure.MTUStep) {
	switch {
	case l.flags.jsonStream:
		l.line(struct {
			Event string          `json:"event"`
			MTU   measure.MTUStep `json:"mtu"`
		}{"mtu", s})
	case !l.flags.json:
		l.search.draw(l.host, s)
	}
}

func (l *live) line(v any) {
	if b, err := json.Marshal(v); err == nil {
		fmt.Fprintf(l.out, "%s\n", printable.JSON(b))
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
		b, err := json.Marshal(struct {
			Event  string          `json:"event"`
			Result *measure.Result `json:"result"`
		}{"result", r})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.out, "%s\n", printable.JSON(b))
		return err
	case l.flags.json:
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.out, "%s\n", printable.JSON(b))
		return err
	}
	l.view.clear()
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
	printPingStatistics(l.out, r)
	return nil
}
