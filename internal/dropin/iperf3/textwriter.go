package iperf3

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"
)

const separator = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"

// mostKept limits the text kept for a client that requests the server's output: a day
// with a few streams.
const mostKept = 16 << 20

// textWriter prints a test line by line.
type textWriter struct {
	out  io.Writer // measurements
	err  io.Writer // errors
	set  *Settings
	role string
	now  func() time.Time
	test Test

	begun   bool // a first interval was printed
	failed  bool
	writing error
	kept    strings.Builder // what was printed, at most mostKept, if the client requests it
	keep    bool
}

func newText(out, errs io.Writer, set *Settings, now func() time.Time) *textWriter {
	return &textWriter{out: out, err: errs, set: set, role: set.Role, now: now}
}

// print writes a line, with time stamp and title in front if requested.
func (w *textWriter) print(format string, args ...any) {
	var b strings.Builder
	if w.set.Timestamps != "" {
		b.WriteString(strftime.Format(w.set.Timestamps, w.now()))
	}
	if w.role == Client && w.set.Title != "" {
		b.WriteString(w.set.Title + ":  ")
	}
	fmt.Fprintf(&b, format, args...)
	if w.keep && w.kept.Len()+b.Len() <= mostKept {
		w.kept.WriteString(b.String())
	}
	if _, err := io.WriteString(w.out, b.String()); err != nil && w.writing == nil {
		w.writing = err
	}
}

func (w *textWriter) Begin(p Program) {
	if w.set.Verbose {
		w.print("%s\n", p.Version)
		w.print("%s\n", p.System)
	}
}

func (w *textWriter) Start(s Start) {
	w.test = s.Test
	if w.set.Verbose {
		if w.role == Client {
			w.print("Control connection MSS %d\n", s.ControlMSS)
			if s.Test.UDP && w.set.Length == 0 {
				w.print("Setting UDP block size to %d\n", s.Test.Block)
			}
		}
		w.print("Time: %s\n", s.At.UTC().Format(time.RFC1123[:len(time.RFC1123)-3])+"GMT")
	}
	if w.role == Client {
		w.print("Connecting to host %s, port %d\n", s.Peer.Host, s.Peer.Port)
		if s.Test.Reverse {
			w.print("Reverse mode, remote host %s is sending\n", s.Peer.Host)
		}
	} else {
		w.print("Accepted connection from %s, port %d\n", s.Peer.Host, s.Peer.Port)
	}
	if w.set.Verbose {
		w.agreed(s)
	}
	for _, c := range s.Connected {
		w.print("[%3d] local %s port %d connected to %s port %d\n", c.Socket, c.Local.Host, c.Local.Port, c.Remote.Host, c.Remote.Port)
	}
	if w.set.Verbose {
		w.starting(s.Test)
	}
}

func (w *textWriter) agreed(s Start) {
	w.print("      Cookie: %s\n", s.Cookie)
	switch {
	case s.Test.UDP:
	case s.Test.MSS != 0:
		w.print("      TCP MSS: %d\n", s.Test.MSS)
	default:
		w.print("      TCP MSS: %d (default)\n", s.ControlMSS)
	}
	if s.Test.Rate != 0 {
		w.print("      Target Bitrate: %d\n", s.Test.Rate)
	}
}

func (w *textWriter) starting(t Test) {
	amount := fmt.Sprintf("%d second test", t.Duration)
	switch {
	case t.Bytes != 0:
		amount = fmt.Sprintf("%d bytes to send", t.Bytes)
	case t.Blocks != 0:
		amount = fmt.Sprintf("%d blocks to send", t.Blocks)
	}
	name := "TCP"
	if t.UDP {
		name = "UDP"
	}
	w.print("Starting Test: protocol: %s, %d streams, %d byte blocks, omitting %d seconds, %s, tos %d\n",
		name, t.Streams, t.Block, t.Omit, amount, t.TOS)
}

// head is the line above the rows.
func (w *textWriter) head(columns string) {
	role := ""
	if w.test.Bidir {
		role = "[Role]"
	}
	w.print("[ ID]%s Interval           Transfer     Bitrate%s\n", role, columns)
}

// columns are the names of those that intervals have after the bitrate.
func (w *textWriter) columns(iv Interval) string {
	const receiver = "         Jitter    Lost/Total Datagrams"
	switch {
	case w.test.UDP && w.test.Bidir:
		return receiver
	case w.test.UDP && w.test.ways(w.role)[0]:
		return "         Total Datagrams"
	case w.test.UDP:
		return receiver
	}
	for _, s := range iv.Streams {
		if s.TCP != nil {
			return "         Retr  Cwnd"
		}
	}
	return ""
}

// mark is the direction of a row in a bidirectional test.
func (w *textWriter) mark(sender bool) string {
	if !w.test.Bidir {
		return ""
	}
	way, end := "RX", "S"
	if sender {
		way = "TX"
	}
	if w.role == Client {
		end = "C"
	}
	return "[" + way + "-" + end + "]"
}

func (w *textWriter) Interval(iv Interval) {
	if !w.begun {
		w.begun = true
		w.head(w.columns(iv))
	} else if w.test.Streams > 1 {
		w.print(separator)
	}
	for _, sender := range w.test.ways(w.role) {
		for _, s := range iv.Streams {
			if s.Sender == sender {
				w.row(fmt.Sprintf("%3d", s.Socket), s, iv.Omitted, true)
			}
		}
		if total := iv.sum(sender); w.test.Streams > 1 {
			w.row("SUM", total, iv.Omitted, false)
		}
	}
}

// lead is what every row begins with.
func (w *textWriter) lead(id string, sender bool, start, end float64, bytes int64, bytesPerSecond float64) string {
	return fmt.Sprintf("[%s]%s %6.2f-%-6.2f sec  %ss  %ss/sec", id, w.mark(sender), start, end,
		quantity(float64(bytes), 'A'), quantity(bytesPerSecond, w.set.Format))
}

func (w *textWriter) row(id string, s StreamInterval, omitted, single bool) {
	lead := w.lead(id, s.Sender, s.Start, s.End, s.Bytes, per(s.Bytes, s.End-s.Start))
	note := ""
	if omitted {
		note = "(omitted)"
	}
	switch {
	case w.test.UDP && s.Sender:
		room := ""
		if w.test.Bidir {
			room = strings.Repeat(" ", 10)
		}
		w.print("%s %s %d  %s\n", lead, room, s.Packets, note)
	case w.test.UDP:
		w.print("%s  %s  %s\n", lead, losses(s.JitterMs, s.Lost, s.Packets), note)
	case s.TCP != nil && single:
		w.print("%s  %3d   %ss       %s\n", lead, s.TCP.Retransmits, quantity(float64(s.TCP.Cwnd), 'A'), note)
	case s.TCP != nil:
		w.print("%s  %3d             %s\n", lead, s.TCP.Retransmits, note)
	default:
		w.print("%s                  %s\n", lead, note)
	}
}

func losses(jitterMs float64, lost, packets int64) string {
	return fmt.Sprintf("%5.3f ms  %d/%d (%.2g%%)", jitterMs, lost, packets, percent(lost, packets))
}

func (w *textWriter) End(e End) {
	w.print(separator)
	if w.set.Verbose {
		w.print("Test Complete. Summary Results:\n")
	}
	switch {
	case w.test.UDP:
		w.head("         Jitter    Lost/Total Datagrams")
	case e.OwnRetransmits || e.PeerRetransmits:
		w.head("         Retr")
	default:
		w.head("")
	}
	for _, sender := range w.test.ways(w.role) {
		for _, s := range e.Streams {
			if s.Sender == sender {
				w.outcome(fmt.Sprintf("%3d", s.Socket), e, s, true)
			}
		}
		if total, _ := e.sum(sender); w.test.Streams > 1 {
			total.Sender = sender
			w.outcome("SUM", e, total, false)
		}
		if w.set.Verbose {
			w.costs(e, sender)
		}
	}
	w.serverOutput(e)
}

// outcome prints what the sender and the receiver counted; a server does not know what
// its client counted.
func (w *textWriter) outcome(id string, e End, s StreamEnd, single bool) {
	if w.role == Server && !s.Sender {
		w.unknown(id, "sender", single)
	} else {
		w.sent(id, e, s)
	}
	if w.test.UDP && single && s.OutOfOrder > 0 {
		w.print("[SUM]%s %4.1f-%4.1f sec  %d datagrams received out-of-order\n", w.mark(s.Sender), 0.0, e.SenderSeconds, s.OutOfOrder)
	}
	if e.File != nil && single {
		w.file(e.File, s)
	}
	if w.role == Server && s.Sender {
		w.unknown(id, "receiver", single)
	} else {
		w.received(id, e, s)
	}
}

func (w *textWriter) unknown(id, who string, single bool) {
	if w.set.Verbose && (single || !w.test.UDP) {
		w.print("[%s] (%s statistics not available)\n", id, who)
	}
}

func (w *textWriter) sent(id string, e End, s StreamEnd) {
	lead := w.lead(id, s.Sender, 0, e.SenderSeconds, s.SentBytes, per(s.SentBytes, e.SenderSeconds))
	switch {
	case w.test.UDP:
		w.print("%s  %s  sender\n", lead, losses(0, 0, s.PacketsSent))
	case !e.retransmits(s.Sender):
		w.print("%s                  sender\n", lead)
	default:
		w.print("%s  %3d             sender\n", lead, s.Retransmits)
	}
}

func (w *textWriter) received(id string, e End, s StreamEnd) {
	lead := w.lead(id, s.Sender, 0, e.ReceiverSeconds, s.ReceivedBytes, per(s.ReceivedBytes, e.ReceiverSeconds))
	if w.test.UDP {
		w.print("%s  %s  receiver\n", lead, losses(s.JitterMs, s.Lost, s.PacketsReceived))
		return
	}
	w.print("%s                  receiver\n", lead)
}

// costs are the processors and the congestion controls of both ends.
func (w *textWriter) costs(e End, sender bool) {
	names := [2]string{"receiver", "sender"}
	cpu := func(own int) {
		w.print("CPU Utilization: local/%s %.1f%% (%.1f%%u/%.1f%%s), remote/%s %.1f%% (%.1f%%u/%.1f%%s)\n",
			names[own], e.Host.Total, e.Host.User, e.Host.System, names[1-own], e.Remote.Total, e.Remote.User, e.Remote.System)
	}
	if sender {
		cpu(1)
		if w.test.Bidir {
			cpu(0)
		}
	}
	if w.test.UDP {
		return
	}
	send, receive := e.OwnCongestion, e.PeerCongestion
	if !sender {
		send, receive = receive, send
	}
	if send != "" {
		w.print("snd_tcp_congestion %s\n", send)
	}
	if receive != "" {
		w.print("rcv_tcp_congestion %s\n", receive)
	}
}

func (w *textWriter) serverOutput(e End) {
	if e.ServerJSON != nil {
		w.print("\nServer JSON output:\n%s\n", raw(e.ServerJSON))
	}
	if e.ServerText != "" {
		w.print("\nServer output:\n%s\n", e.ServerText)
	}
}

// Fail writes to the log if there is one, otherwise to stderr.
func (w *textWriter) Fail(message string) {
	w.failed = true
	stamp := ""
	if w.set.Timestamps != "" {
		stamp = strftime.Format(w.set.Timestamps, w.now())
	}
	fmt.Fprintf(w.err, "%siperf3: %s\n", stamp, message)
}

func (w *textWriter) Close() error {
	if !w.failed && w.role == Client {
		w.print("\n")
		w.print("iperf Done.\n")
	}
	return w.writing
}
