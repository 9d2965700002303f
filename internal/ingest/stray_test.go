package ingest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// around is the finding about stray text of a result, or the zero finding.
func around(r *measure.Result) measure.Finding {
	if f := r.Findings.With(finding.TextAround); len(f) == 1 {
		return f[0]
	}
	return measure.Finding{}
}

func TestTextAroundDocumentsIsAFinding(t *testing.T) {
	r := one(t, "iperf3-warning-before.json")
	if f := around(r); r.Test != measure.TestUDP || !close2(r.Summary.GoodputBps, 99742336.162122875) || r.Summary.PacketsLost != 26 || f.Figures["line"] != 1.0 || f.Figures["lines"] != 1.0 || !strings.HasPrefix(f.Text("text"), "warning: UDP block size") {
		t.Errorf("%v bit/s, %+v", r.Summary.GoodputBps, r.Findings)
	}
	results := sample(t, "iperf3-cron-dates.json")
	if len(results) != 3 {
		t.Fatalf("dates between: %d results", len(results))
	}
	for i, r := range results {
		if f := around(r); r.Summary.ReceivedBytes != 2504654848 || f.Text("text") != fmt.Sprintf("Fri Nov 27 02:0%d:00 UTC 2026", i) {
			t.Errorf("document %d: %d bytes, %+v", i+1, r.Summary.ReceivedBytes, r.Findings)
		}
	}
	results = sample(t, "iperf3-array.json")
	if len(results) != 3 {
		t.Fatalf("an array: %d results", len(results))
	}
	for i, r := range results {
		if r.Summary.ReceivedBytes != 2504654848 || len(r.Findings) != 0 || r.Origin.Line != i+1 {
			t.Errorf("element %d: %d bytes, line %d, %+v", i+1, r.Summary.ReceivedBytes, r.Origin.Line, r.Findings)
		}
	}
}

// The siblings of the files above.
func TestDocumentsAreReadAmongOtherText(t *testing.T) {
	tcp, udp, stream := text(t, "iperf3-3.12-tcp.json"), text(t, "iperf3-3.12-udp.json"), text(t, "iperf3-3.21-stream-tcp.json")
	ntttcp := text(t, "ntttcp-s.json")
	const tcpBps, udpBps = 25741356264.73737, 20051910.549392313
	ntttcpBps := one(t, "ntttcp-s.json").Summary.GoodputBps
	lines := func(prefix func(i int) string, text string) string {
		out := strings.SplitAfter(text, "\n")
		for i, line := range out {
			if line != "" {
				out[i] = prefix(i) + line
			}
		}
		return strings.Join(out, "")
	}
	for name, c := range map[string]struct {
		text  string
		bps   []float64
		about []bool // results with a finding about other text
	}{
		"a trailing error":     {tcp + "iperf3: error - control socket has closed unexpectedly\n", []float64{tcpBps}, []bool{true}},
		"a leading error":      {"iperf3: error - unable to connect to server: Connection refused\n" + tcp, []float64{tcpBps}, []bool{true}},
		"quotes and brackets":  {"it's \"5 [of\" {7}\n[notice] x\n" + tcp + "}\n" + udp, []float64{tcpBps, udpBps}, []bool{true, true}},
		"on the same line":     {"run 1: " + tcp + "done\n" + udp, []float64{tcpBps, udpBps}, []bool{true, true}},
		"between only":         {tcp + "==> b.json <==\n" + udp, []float64{tcpBps, udpBps}, []bool{false, true}},
		"a list in a list":     {"[" + tcp + ",\n" + udp + "]\n" + "[" + udp + "]", []float64{tcpBps, udpBps, udpBps}, []bool{false, false, false}},
		"a list with a note":   {"[" + tcp + ",\nnote\n" + udp + "]\n", []float64{tcpBps, udpBps}, []bool{false, true}},
		"kubectl --timestamps": {lines(func(i int) string { return fmt.Sprintf("2026-11-27T02:11:%02d.%09dZ ", i/10, i) }, tcp), []float64{tcpBps}, []bool{true}},
		"with a time zone":     {lines(func(i int) string { return "2026-11-27T02:11:58+00:00 " }, tcp+udp), []float64{tcpBps, udpBps}, []bool{true, false}},
		"kubectl --prefix": {lines(func(int) string { return "[pod/iperf3-abc-12/iperf3] " }, lines(func(i int) string { return "2026-11-27T02:11:58.1Z " }, tcp)),
			[]float64{tcpBps}, []bool{true}},
		"docker compose": {lines(func(int) string { return "iperf3-1  | " }, tcp), []float64{tcpBps}, []bool{true}},
		"journalctl":     {lines(func(i int) string { return fmt.Sprintf("Nov 27 02:11:%02d vm1 iperf3[4711]: ", i%60) }, tcp), []float64{tcpBps}, []bool{true}},
		"ntttcp":         {"note\n" + ntttcp + "Killed\n", []float64{ntttcpBps}, []bool{true}},
		"a list, ntttcp": {"note\n[" + ntttcp + ",\n" + ntttcp + "]\n", []float64{ntttcpBps, ntttcpBps}, []bool{true, false}},
		"a stream":       {"warning: x\n" + stream + "Fri Nov 27\n" + stream, []float64{0, 0}, []bool{true, true}},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != len(c.bps) {
			t.Errorf("%s: %d results, want %d, %v", name, len(results), len(c.bps), err)
			continue
		}
		for i, r := range results {
			if c.bps[i] != 0 && !close2(r.Summary.GoodputBps, c.bps[i]) || r.Summary.GoodputBps == 0 || (around(r).Code != "") != c.about[i] {
				t.Errorf("%s: result %d: %v bit/s, %+v", name, i+1, r.Summary.GoodputBps, r.Findings)
			}
		}
	}
	if r, err := read(t, Auto, lines(func(int) string { return "2026-11-27T02:11:58.123456789Z " }, text(t, "ping-linux.txt"))); err != nil || r[0].Latency.Received != 5 || around(r[0]).Figures["lines"] != 10.0 {
		t.Errorf("ping behind timestamps: %v", err)
	}
	if r, err := read(t, Auto, text(t, "ethr-b.log")+"Killed\n"); err != nil || len(r) != 1 || around(r[0]).Text("text") != "Killed" {
		t.Errorf("a log of Ethr: %d results, %v", len(r), err)
	}
	if r, err := read(t, Auto, "["+ntttcp+",\n"+ntttcp+"]\n"); err != nil || len(r) != 2 || r[0].Summary.GoodputBps != r[1].Summary.GoodputBps {
		t.Errorf("a list of ntttcp: %d results, %v", len(r), err)
	}
	mtr := text(t, "mtr.json")
	for name, c := range map[string]struct {
		text    string
		results int
	}{"before": {"note\n" + mtr, 1}, "after": {mtr + "note\n", 1}, "on the same line": {"run 1: " + mtr, 1}, "around a list": {"note\n[" + mtr + ",\n" + mtr + "]\n", 2}} {
		if r, err := read(t, Auto, c.text); err != nil || len(r) != c.results || around(r[0]).Code == "" {
			t.Errorf("text %s of mtr: %d results, %v", name, len(r), err)
		}
	}
	for file, format := range map[string]string{"mtr-r.txt": "mtr", "ntttcp-s.txt": "ntttcp", "ethr-b.txt": "ethr", "iperf3-3.12-tcp.txt": "iperf3"} {
		if r, err := read(t, Auto, "[x] {\"level\": \"info\"}\n"+text(t, file)); err != nil || len(r) != 1 || r[0].Origin.Format != format {
			t.Errorf("a document of another program before %s: %d results, %v", file, len(r), err)
		}
	}
	if _, err := read(t, Auto, tcp+text(t, "iperf3-3.12-tcp.txt")); err == nil || !strings.Contains(err.Error(), "as text, and documents") {
		t.Errorf("text and documents: %v", err)
	}
}

func TestOtherTextThatLooksLikeAPrefixStays(t *testing.T) {
	for _, text := range []string{"a | b\nc\n", "2026-11-27T02:11:58Z a\nb\n", "2026-11-27T02:11:58Z,1\n2026-11-27T02:11:59Z,2\n", "[a] b\n", "sku|zone,mbps\na|1,5\n"} {
		s, err := NewSource("f", []byte(text), fileTime)
		if err != nil || s.text != text || len(s.prefix) != 0 {
			t.Errorf("%q became %q, %v", text, s.text, err)
		}
	}
}

// iperf3 3.16 and 3.17 print the document twice. Documents of both ends have one cookie, too.
func TestADocumentThatIsPrintedTwiceIsOneResult(t *testing.T) {
	r := one(t, "iperf3-twice.json")
	if !close2(r.Summary.GoodputBps, r.Flows[0].Summary.GoodputBps) || r.Summary.ReceivedBytes != 2504654848 {
		t.Errorf("%+v", r.Summary)
	}
	client, refused := text(t, "iperf3-3.12-tcp.json"), text(t, "iperf3-3.12-refused.json")
	server := strings.NewReplacer(`"connecting_to"`, `"accepted_connection"`).Replace(client)
	for name, c := range map[string]struct {
		text    string
		results int
	}{
		"in one line each":  {strings.ReplaceAll(client, "\n", "") + "\n" + strings.ReplaceAll(client, "\n", "") + "\n", 1},
		"without a blank":   {strings.TrimSpace(client) + strings.TrimSpace(client), 1},
		"both ends":         {client + server, 2},
		"several tests":     {client + client + text(t, "iperf3-3.12-udp.json") + text(t, "iperf3-3.12-udp.json"), 2},
		"two refused tests": {refused + refused, 2}, // a refused test has no cookie
	} {
		if results, err := read(t, Auto, c.text); err != nil || len(results) != c.results {
			t.Errorf("%s: %d results, want %d, %v", name, len(results), c.results, err)
		}
	}
}

// iperf3 3.7 to 3.10 give the sums of both directions one name. The members sender tell which is which.
func TestSumsThatStandTwiceAreThoseOfBothDirections(t *testing.T) {
	file := "iperf3-bidir-duplicate-keys.json"
	whole := text(t, file)
	swap := func(text, name string) string { // of the two members of a name at the end
		parts := regexp.MustCompile(`(?s)\n\t\t"`+name+`":	\{.*?\n\t\t\}`).FindAllString(text, -1)
		first, second := parts[len(parts)-2], parts[len(parts)-1]
		return strings.Replace(strings.Replace(strings.Replace(text, first, "\x00", 1), second, first, 1), "\x00", second, 1)
	}
	unmarked := regexp.MustCompile(`(?s)("sum(?:_sent|_received)?":	\{[^}]*?),\s*"sender":	(?:true|false)`).ReplaceAllString(whole, "$1")
	server := strings.NewReplacer(`"connecting_to"`, `"accepted_connection"`, `"sender":	true`, `"sender":	false`, `"sender":	false`, `"sender":	true`).Replace(whole)
	for name, text := range map[string]string{
		"as written": whole, "in another order": swap(swap(whole, "sum_sent"), "sum_received"), "without marks of the sums": unmarked, "at the server": server,
		"without marks, in another order": swap(swap(unmarked, "sum_sent"), "sum_received"),
	} {
		results, err := read(t, Auto, text)
		if err != nil || len(results) != 1 || len(results[0].Flows) != 2 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		r := results[0]
		f, b := r.Flows[0], r.Flows[1]
		if r.Trial.Label != "tcp bidirectional" || r.Origin.Tool+r.Origin.ToolVersion != "iperf33.7" || f.Direction != measure.Forward || b.Direction != measure.Reverse {
			t.Errorf("%s: %q %+v, %s and %s", name, r.Trial.Label, r.Origin, f.Direction, b.Direction)
		}
		if !close2(f.Summary.GoodputBps, 5120012181.5334) || !close2(b.Summary.GoodputBps, 4695639411.5431137) || f.Summary.SentBytes != 1292369920 || b.Summary.SentBytes != 1191444480 {
			t.Errorf("%s: forward %+v\nreverse %+v", name, f.Summary, b.Summary)
		}
		if *f.Summary.Retransmits != 20 || *b.Summary.Retransmits != 16 || len(f.Streams) != 1 || len(b.Streams) != 1 || len(f.Samples) != 2 || len(b.Samples) != 2 {
			t.Errorf("%s: streams %d and %d, samples %d and %d", name, len(f.Streams), len(b.Streams), len(f.Samples), len(b.Samples))
		}
		if len(f.Samples) == 2 && len(b.Samples) == 2 {
			if got := f.Samples[0].SentBytes + f.Samples[0].ReceivedBytes; got != 765460480 {
				t.Errorf("%s: the first forward interval has %d bytes", name, got)
			}
			if got := b.Samples[0].SentBytes + b.Samples[0].ReceivedBytes; got != 818020352 {
				t.Errorf("%s: the first reverse interval has %d bytes", name, got)
			}
		}
	}
	if _, err := read(t, Auto, strings.Replace(whole, `"bytes":	1291190272,`, `"bytes":	"x",`, 2)); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a text in a sum: %v", err)
	}
}

func TestALogIsCutOffOnlyAtItsEnd(t *testing.T) {
	tcp, ping := text(t, "iperf3-3.12-tcp.json"), text(t, "ping-linux.txt")
	begun := ping[:strings.Index(ping, "---")]
	stream := text(t, "iperf3-3.21-stream-tcp.json")
	for name, c := range map[string]struct {
		text, want string
	}{
		"a document that was stopped":   {tcp[:len(tcp)/2] + "\n" + tcp, "did not end"},
		"ping that was stopped":         {begun + ping, "f:8: the run before this line did not end"},
		"a stream that was stopped":     {stream[:strings.Index(stream, `{"event":"end"`)] + stream, "did not end"},
		"nuttcp that was stopped":       {strings.SplitAfter(text(t, "nuttcp-v.txt"), "\n")[0] + "nuttcp-t: v6.1.2: Error: connect: Connection refused\n" + text(t, "nuttcp-t.txt"), ""},
		"iperf 2 that was stopped":      {strings.Join(strings.SplitAfter(text(t, "iperf2-client-tcp.txt"), "\n")[:6], "") + text(t, "iperf2-client-tcp.txt"), "did not end"},
		"netperf that was stopped":      {strings.SplitAfter(text(t, "netperf-tcp_stream.txt"), "\n")[0] + text(t, "netperf-tcp_stream.txt"), "f:2: the run before this line did not end"},
		"Ethr that was stopped":         {strings.Replace(text(t, "ethr-b.txt"), "Ethr done", "x", 1) + text(t, "ethr-b.txt"), "did not end"},
		"mtr without a column":          {strings.Replace(text(t, "mtr-r.txt"), " Snt ", " Rcv ", 1), "not all of the columns"},
		"a document that is cut off":    {tcp + tcp[:len(tcp)/2], "cut off"},
		"a list that is cut off":        {"[" + tcp + ",", "cut off"},
		"ping that is cut off":          {ping + begun, "cut off"},
		"counts that were not kept":     {text(t, "fping-stdout-only.txt"), "standard error"},
		"fping of which some has none":  {text(t, "fping-c.txt") + "10.0.0.1 : [0], 64 bytes, 0.038 ms (0.038 avg, 0% loss)\n", "cut off"},
		"the last run is not the whole": {ping + begun + "\n", "cut off"},
	} {
		_, err := read(t, Auto, c.text)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case err != nil && (c.want == "cut off") != strings.Contains(measure.AsError(err, measure.KindFile).Hint, "copy the file again"):
			t.Errorf("%s: hint %q", name, measure.AsError(err, measure.KindFile).Hint)
		}
	}
}

func TestPingInAnotherLanguageIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ text, want, hint string }{
		"German":            {text(t, "ping-linux-de.txt"), "ping in German", "LC_ALL=C"},
		"German, lost":      {"PING 10.9.0.4 (10.9.0.4) 56(84) Bytes an Daten.\n\n--- 10.9.0.4 ping-Statistik ---\n2 Pakete übertragen, 0 empfangen, 100% packet loss, time 1001ms\n", "ping in German", "LC_ALL=C"},
		"French":            {"PING a (10.0.0.1) 56(84) octets de données.\n64 octets de 10.0.0.1 : icmp_seq=1 ttl=64 temps=0.4 ms\n\n--- statistiques ping a ---\n1 paquets transmis, 1 reçus, 0% packet loss\n", "ping in French", "LC_ALL=C"},
		"Spanish":           {"PING a (10.0.0.1) 56(84) bytes de datos.\n64 bytes desde 10.0.0.1: icmp_seq=1 ttl=64 tiempo=0.4 ms\n\n1 paquetes transmitidos, 1 recibidos, 0% packet loss\n", "ping in Spanish", "LC_ALL=C"},
		"Chinese":           {"PING a (10.0.0.1) 56(84) 字节的数据。\n64 字节，来自 10.0.0.1: icmp_seq=1 ttl=64 时间=0.4 毫秒\n\n已发送 1 个包， 已接收 1 个包, 0% packet loss\n", "ping in Chinese", "LC_ALL=C"},
		"German of Windows": {"\nPing wird ausgeführt für 10.0.0.1 mit 32 Bytes Daten:\nAntwort von 10.0.0.1: Bytes=32 Zeit=12ms TTL=57\n", "ping in German", "Test-Connection"},
		"French of Windows": {"\nEnvoi d’une requête 'Ping'  10.0.0.1 avec 32 octets de données :\nRéponse de 10.0.0.1 : octets=32 temps=12 ms TTL=57\n", "ping in French", "Test-Connection"},
	} {
		_, err := read(t, Auto, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "cut off") {
			t.Errorf("%s: %v", name, err)
		} else if hint := measure.AsError(err, measure.KindFile).Hint; !strings.Contains(hint, c.hint) {
			t.Errorf("%s: hint %q", name, hint)
		}
	}
	seen := map[string]bool{}
	for _, l := range pingLanguages() {
		if l.name == "" || len(l.words) == 0 || seen[l.name] {
			t.Errorf("%+v", l)
		}
		seen[l.name] = true
	}
}

// For a program that is not read the error says which export helps.
func TestTheErrorForAnUnknownProgramNamesAnExport(t *testing.T) {
	for name, c := range map[string]struct{ text, program, hint string }{
		"speedtest":  {"\n   Speedtest by Ookla\n\n      Server: x\n", "Ookla's speedtest", "speedtest --format=csv"},
		"traceroute": {"traceroute to 10.0.0.1 (10.0.0.1), 30 hops max\n 1  10.0.0.1  0.1 ms\n", "traceroute", "mtr -r"},
		"qperf":      {"tcp_lat:\n    latency  =  21.4 us\n", "qperf", "sockperf"},
		"irtt":       {"[Connecting] connecting to 10.0.0.1\n", "irtt", "jq -r"},
	} {
		_, err := read(t, Auto, c.text)
		if err == nil || !strings.Contains(err.Error(), c.program) {
			t.Errorf("%s: %v", name, err)
		} else if hint := measure.AsError(err, measure.KindFile).Hint; !strings.Contains(hint, c.hint) || !strings.Contains(hint, "--map") {
			t.Errorf("%s: hint %q", name, hint)
		}
	}
	if _, err := read(t, Auto, "anything\n"); err == nil || !strings.Contains(measure.AsError(err, measure.KindFile).Hint, "--map") {
		t.Errorf("anything: %v", err)
	}
	for line := range strings.Lines(otherProgramTable) {
		if cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(line, "#") && (len(cells) < 3 || len(cells) > 4 || cells[1] == "" || strings.Contains(strings.Join(cells[2:], " "), "...")) {
			t.Errorf("%q", line)
		}
	}
}
