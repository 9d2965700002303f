package cli

import (
	"fmt"
	"io"
	"maps"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/store"
	"soku/internal/tests"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// printSummary writes a result for a person: what came out, how sure it is,
// between which hosts, and what makes it doubtful. Lines fit a terminal of so
// many columns, if any are given.
func printSummary(c *text.Catalogue, w io.Writer, columns int, r *measure.Result) {
	var head, rest text.Lines
	head.Row("label.path", "summary.path", text.Args{"Path": pathText(c, r), "Test": testText(c, r)})
	if d := tests.Of(r.Test); d != nil {
		if table := tableOf(c, d, r); table != nil {
			printBelow(c, w, columns, head, table)
			head = nil
		}
		d.Summary(&rest, r)
	}
	if why, known := r.Summary.Why(); known {
		rest.Row("label.confidence", "summary.confidence", text.Args{"Level": r.Summary.Confidence, "Reason": c.Finding(why)})
	}
	if r.Verdict != nil {
		rest.Row("label.limited_by", "summary.verdict", c.VerdictArgs(r.Verdict))
		if remedy := c.Remedy(r.Verdict.Remedy); remedy != "" {
			rest.Row("label.remedy", "summary.text", text.Args{"Text": remedy})
		}
	}
	if e := r.Explains; e != nil {
		args := text.Args{"Result": e.Result, "Probe": c.Probe(e.Probe), "Limit": "", "Confidence": measure.Low}
		if e.Verdict != nil {
			args["Limit"], args["Confidence"] = c.Bottleneck(e.Verdict.LimitedBy), e.Verdict.Confidence
		}
		rest.Row("label.explains", "explain.of", args)
	}
	costSummary(&rest, r)
	hostSummary(&rest, r)
	printLines(c, w, columns, append(head, rest...))
	printFindings(c, labelled(w, labelColumns(c), columns), r.Findings)
}

// printLines writes lines with their labels in a column. Names in them may come from
// the network, so nothing of them reaches the terminal as a control character.
func printLines(c *text.Catalogue, w io.Writer, columns int, lines text.Lines) {
	printLabelled(c, w, labelColumns(c), columns, lines)
}

// printLabelled is printLines with labels of labels columns.
func printLabelled(c *text.Catalogue, w io.Writer, labels, columns int, lines text.Lines) {
	row := labelled(w, labels, columns)
	for _, l := range lines {
		label, sentence := c.Words(l)
		row(label, "%s", printable.Line(sentence))
	}
}

// printFindings writes each finding under its severity. Names and sentences in them may
// come from the network, so nothing of them reaches the terminal as a control character.
func printFindings(c *text.Catalogue, row rowPrinter, findings measure.Findings) {
	for _, f := range findings {
		label := c.Sentence("label.warning", nil)
		if f.Severity == finding.Note {
			label = c.Sentence("label.note", nil)
		}
		row(label, "%s", printable.Line(c.Finding(f)))
	}
}

// hostSummary names the two machines, those of one name with their addresses. Servers of other
// tools report nothing of theirs.
func hostSummary(out *text.Lines, r *measure.Result) {
	client, server := r.Hosts.Client, r.Hosts.Server
	alike := client != nil && server != nil && client.Facts.Hostname == server.Facts.Hostname && r.Path.Client.Address != r.Path.Server.Address
	for _, end := range []struct {
		label   string
		host    *measure.Host
		address string
	}{{"label.client", client, r.Path.Client.Address}, {"label.server", server, r.Path.Server.Address}} {
		if end.host == nil || end.host.Facts.OS == "" {
			continue
		}
		label, args := end.label, hostArgs(end.host)
		if alike {
			args["Address"] = end.address
		}
		out.Row(label, "summary.host", args)
	}
}

// headlineArgs are when a result was measured, what, between which hosts, and its figure.
func headlineArgs(c *text.Catalogue, r *measure.Result) text.Args {
	return text.Args{
		"Started": moment(r.StartedAt), "Test": r.Test, "Path": pathText(c, r), "Options": option.Changed(r), "Figure": headline(c, store.EntryOf(r)),
	}
}

func pathText(c *text.Catalogue, r *measure.Result) string {
	return c.Sentence("summary.ends", text.Args{
		"Client": r.Path.Client.String(), "ClientAddress": addressBeside(r.Path.Client),
		"Server": r.Path.Server.String(), "ServerAddress": addressBeside(r.Path.Server),
	})
}

// addressBeside is the address of an endpoint that is known by another name.
func addressBeside(e measure.Endpoint) string {
	if e.Address == e.String() {
		return ""
	}
	return e.Address
}

// testText says what was measured: the options that matter most.
func testText(c *text.Catalogue, r *measure.Result) string {
	o := r.Options
	args := text.Args{
		"Test": r.Test, "Direction": o.Direction, "Streams": o.Streams, "Congestion": congestionInForce(r), "Rate": o.Rate,
		"Size": o.Size, "Requests": o.RequestRate,
		"Port": o.Port, "Flows": o.Flows, "Close": "", "Via": foreignVia(o), "Duration": r.Summary.DurationNs,
	}
	if r.Connect != nil {
		args["Close"] = r.Connect.Close
	}
	maps.Copy(args, tests.OptionArgs(r.Test, o))
	return c.Sentence("summary.test."+string(r.Test), args)
}

// foreignVia is another tool's protocol that a trial spoke, or empty.
func foreignVia(o measure.Options) string {
	if o.Via == option.ViaSoku {
		return ""
	}
	return o.Via
}

// congestionInForce is the congestion control of the streams, empty where the
// system did not report it or streams differ.
func congestionInForce(r *measure.Result) string {
	name := ""
	for _, f := range r.Flows {
		for _, s := range f.Streams {
			if s.TCP == nil || name != "" && s.TCP.Congestion != name {
				return ""
			}
			name = s.TCP.Congestion
		}
	}
	return name
}

// hostArgs are the facts about a machine that a person asks first.
func hostArgs(h *measure.Host) text.Args {
	f, cloud, limits, queues := h.Facts, measure.Cloud{}, measure.Limits{}, 0
	if f.Cloud != nil {
		cloud = *f.Cloud
	}
	if f.Limits != nil {
		limits = *f.Limits
	}
	if f.NIC != nil && f.NIC.Queues != nil {
		queues = f.NIC.Queues.Combined + max(f.NIC.Queues.Rx, f.NIC.Queues.Tx)
	}
	return text.Args{
		"Instance": cloud.InstanceType, "Location": cloud.Location(), "Quota": limits.CPUQuota, "Driver": f.Driver, "Queues": queues,
		"Name": f.Hostname, "Address": "", "System": f.OS + "/" + f.Arch, "CPUs": f.CPUs,
		"Interface": f.Interface, "MTU": f.MTU, "Pinned": option.FormatCPUs(h.PinnedCPUs),
	}
}

func tableOf(c *text.Catalogue, d *tests.Descriptor, r *measure.Result) []string {
	if d.Table == nil {
		return nil
	}
	return d.Table(c, r)
}

// printBelow writes lines, and a table between blank lines below them.
func printBelow(c *text.Catalogue, w io.Writer, columns int, head text.Lines, table []string) {
	printLines(c, w, columns, head)
	fmt.Fprintln(w)
	for _, line := range table {
		fmt.Fprintln(w, printable.Line(line))
	}
	fmt.Fprintln(w)
}

// costSummary says what the trial cost each end's processors, the sender first. It adds
// nothing where neither end knows.
func costSummary(out *text.Lines, r *measure.Result) {
	ends := []struct {
		name string
		host *measure.Host
	}{{"client", r.Hosts.Client}, {"server", r.Hosts.Server}}
	if r.Latency == nil {
		switch r.Options.Direction {
		case measure.Forward:
			ends[0].name, ends[1].name = "sender", "receiver"
		case measure.Reverse:
			ends[0].name, ends[1].name = "receiver", "sender"
			ends[0], ends[1] = ends[1], ends[0]
		}
	}
	label := "label.cost"
	for _, e := range ends {
		if e.host == nil || e.host.Counters == nil || e.host.Counters.CoresUsed == 0 {
			continue
		}
		c := e.host.Counters
		out.Row(label, "summary.cost."+e.name, text.Args{
			"Cores": c.CoresUsed, "PerGB": c.CPUSecPerGB, "PerPacket": c.CPUNsPerPacket, "Softirq": c.SoftirqRatio, "Shared": c.Shared,
		})
		label = ""
	}
}

// rowWidths are those of the table of round trips.
var rowWidths = []int{10, 10, 10, 10, 10, 10, 10, 10, 10}

// printRows writes the table of round trips, a row each N.
func printRows(c *text.Catalogue, w io.Writer, l *measure.Latency) {
	if l == nil || len(l.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	heads := c.Headings("rows.avg", "rows.min", "rows.p50", "rows.p90", "rows.p95", "rows.p99", "rows.p99_9", "rows.p99_99", "rows.max")
	fmt.Fprintln(w, cells(rowWidths, heads...))
	for _, row := range l.Rows {
		p := row.RTT.Supported()
		var texts []string
		for _, v := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			texts = append(texts, latencyCell(v))
		}
		fmt.Fprintln(w, cells(rowWidths, texts...))
	}
}

// latencyCell is a figure of a distribution in a table, empty for a percentile that it does not have.
func latencyCell(ns float64) string {
	if ns == 0 {
		return ""
	}
	return messages.FormatLatency(ns)
}

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
