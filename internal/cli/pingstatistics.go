package cli

import (
	"fmt"
	"io"
	"time"

	"soku/internal/measure"
	"soku/internal/printable"
)

// printPingStatistics writes the lines with which the ping of most systems ends, for
// programs that read them; nothing for other tests. mdev is the standard deviation of all round trips.
func printPingStatistics(w io.Writer, r *measure.Result) {
	l := r.Latency
	if r.Test != measure.TestPing || l == nil || l.Sent == 0 {
		return
	}
	fmt.Fprintf(w, "\n--- %s ping statistics ---\n", printable.Line(r.Path.Server.Name))
	duplicates := ""
	if l.Duplicated > 0 {
		duplicates = fmt.Sprintf("+%d duplicates, ", l.Duplicated)
	}
	loss := float64(l.Sent-l.Received) * 100 / float64(l.Sent)
	fmt.Fprintf(w, "%d packets transmitted, %d received, %s%.6g%% packet loss, time %dms\n",
		l.Sent, l.Received, duplicates, loss, time.Duration(l.SpanNs).Milliseconds())
	if p := r.Summary.RTT; p != nil {
		ms := func(ns float64) float64 { return ns / 1e6 }
		fmt.Fprintf(w, "rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n", ms(p.Min), ms(p.Mean), ms(p.Max), ms(l.DeviationNs))
	}
}
