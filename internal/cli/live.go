package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"soku/internal/measure"
	"soku/internal/wire"
)

// live shows a test that a person runs by hand: interval lines while it runs
// and the summary after it, or their JSON forms.
type live struct {
	out, err io.Writer
	columns  func() int // of out
	flags    *measureFlags
	test     measure.Test
	host     string
	head     bool   // the table's head has been printed
	last     string // last state that was told
	view     *traceView
	search   *mtuView
}

func newLive(sys *System, test measure.Test, host string, f *measureFlags) *live {
	return &live{out: sys.Stdout, err: sys.Stderr, columns: sys.StdoutWidth, flags: f, test: test, host: host,
		view:   &traceView{w: sys.Stdout, width: sys.StdoutWidth, height: sys.StdoutHeight},
		search: &mtuView{w: sys.Stdout, width: sys.StdoutWidth},
	}
}

// state tells when the trial has to wait, which is the only state a person must know of.
func (l *live) state(s wire.State) {
	line := ""
	if s.Name == "queued" {
		line = fmt.Sprintf("waiting: the server measures for others, %d in the queue before this", max(0, s.Position-1))
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

// foreign tells whether the server is another tool's, which tells nothing while the
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
		fmt.Fprintf(l.out, "%s\n", b)
	}
}

func (l *live) intervalLine(p measure.Progress) {
	sent := p.Role == measure.Sender
	if sent && !l.foreign() {
		return // the receiver's line says the same and counts
	}
	if !l.head {
		l.head = true
		fmt.Fprintln(l.out, l.intervalHead())
	}
	span := fmt.Sprintf("%6.1f–%.1f s", float64(p.StartNs)/1e9, float64(p.EndNs)/1e9)
	span = fmt.Sprintf("%-15s", span)
	if l.flags.options.Direction == measure.Bidirectional {
		span += fmt.Sprintf(" %-8s", p.Direction)
	}
	switch {
	case p.RTT != nil:
		fmt.Fprintf(l.out, "%s %8d %11s %11s %11s %11s\n", span, p.RTT.Count,
			measure.FormatLatency(p.RTT.Min), measure.FormatLatency(p.RTT.P50), measure.FormatLatency(p.RTT.P99), measure.FormatLatency(p.RTT.Max))
	case l.test == measure.TestUDP && sent:
		fmt.Fprintf(l.out, "%s %14s %10d\n", span, measure.FormatRate(p.Bps), p.Packets)
	case l.test == measure.TestUDP:
		fmt.Fprintf(l.out, "%s %14s %10d %8d %11s\n", span, measure.FormatRate(p.Bps), p.Packets, p.Lost, measure.FormatLatency(p.JitterNs))
	case l.test == measure.TestTCP:
		fmt.Fprintf(l.out, "%s %14s %12s\n", span, measure.FormatRate(p.Bps), measure.FormatBytes(float64(p.Bytes)))
	default:
		fmt.Fprintf(l.out, "%s %8s\n", span, "no reply")
	}
}

func (l *live) intervalHead() string {
	test, o := l.test, l.flags.options
	head := fmt.Sprintf("%-15s", "time")
	if o.Direction == measure.Bidirectional {
		head += fmt.Sprintf(" %-8s", "way")
	}
	switch test {
	case measure.TestTCP:
		if l.foreign() && o.Direction != measure.Reverse {
			return head + fmt.Sprintf(" %14s %12s", "rate", "moved")
		}
		return head + fmt.Sprintf(" %14s %12s", "goodput", "received")
	case measure.TestUDP:
		if l.foreign() && o.Direction == measure.Forward {
			return head + fmt.Sprintf(" %14s %10s", "rate", "packets")
		}
		return head + fmt.Sprintf(" %14s %10s %8s %11s", "goodput", "packets", "lost", "jitter")
	case measure.TestConnect:
		return head + fmt.Sprintf(" %8s %11s %11s %11s %11s", "set up", "min", "median", "p99", "max")
	}
	return head + fmt.Sprintf(" %8s %11s %11s %11s %11s", "replies", "min", "median", "p99", "max")
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
		_, err = fmt.Fprintf(l.out, "%s\n", b)
		return err
	case l.flags.json:
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.out, "%s\n", b)
		return err
	}
	l.view.clear()
	l.search.clear()
	if r.Summary.DurationNs == 0 && r.Latency == nil {
		return nil
	}
	if l.head {
		fmt.Fprintln(l.out)
	}
	printSummary(l.out, l.columns(), r)
	if l.flags.rows {
		printRows(l.out, r.Latency)
	}
	if l.flags.table == ethrName {
		if err := printEthrTable(l.out, r.Latency); err != nil {
			return err
		}
	}
	if saved {
		fmt.Fprintf(l.out, "%-*s soku show %s\n", nameColumns, "kept", r.ID)
	}
	printPingStatistics(l.out, r)
	return nil
}
