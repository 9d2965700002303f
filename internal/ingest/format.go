package ingest

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// format is a file format.
type format struct {
	name   string
	decode func(*Source) ([]*measure.Result, error)
	lines  bool // lines of text, whose figures have no end mark of their own
	// nothing is the code of the error for a file without a result.
	nothing string
}

// Auto is the name for detecting the format from the contents.
const Auto = "auto"

// formats lists them; tables need a mapping and are read by [Mapping.Read].
func formats() []format {
	return []format{
		{"iperf3", iperf3, true, "ingest.iperf3.nothing"},
		{"iperf2", iperf2, true, "ingest.iperf2.nothing"},
		{"iperf2-csv", iperf2CSV, true, "ingest.iperf2.nothing_csv"},
		{"ntttcp", ntttcp, true, "ingest.ntttcp.nothing_text"},
		{"ethr", ethr, true, "ingest.ethr.nothing"},
		{"ping", ping, false, "ingest.ping.nothing"},
		{"sockperf", sockperf, true, "ingest.sockperf.nothing"},
		{"netperf", netperf, true, "ingest.netperf.nothing"},
		{"fping", fping, true, "ingest.fping.nothing"},
		{"nuttcp", nuttcp, true, "ingest.nuttcp.nothing"},
		{"mtr", mtr, true, "ingest.mtr.nothing"},
		{"latte", latte, true, "ingest.latte.nothing"},
		{"psping", psping, true, "ingest.psping.nothing"},
		{"lagscope", lagscope, true, "ingest.lagscope.nothing"},
		{"cps", cps, true, "ingest.cps.nothing"},
	}
}

// Formats are the names of all formats.
func Formats() []string {
	out := []string{Auto}
	for _, f := range formats() {
		out = append(out, f.name)
	}
	return append(out, "csv")
}

// Decode reads a file of this format; Auto detects it. The results do not belong to a campaign
// yet. An error has kind file and begins with the file and a line, or has kind usage if the
// format is unknown.
func Decode(s *Source, name string) ([]*measure.Result, error) {
	if name == Auto {
		if name = detect(s.text); name == "" {
			return nil, s.undetected()
		}
	}
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
	switch {
	case i < 0 && name == "csv":
		return nil, measure.Fail(measure.KindUsage, "ingest.format.csv", nil)
	case i < 0:
		return nil, measure.Fail(measure.KindUsage, "ingest.format.unknown", measure.Figures{"format": short(name), "formats": Formats()})
	}
	s.stray, s.impossible, s.json, s.reading = nil, nil, false, 0
	results, err := all[i].decode(s)
	if err == nil && len(results) == 0 {
		err = s.fail(1, all[i].nothing, nil)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		r.Origin.Format = strings.TrimSuffix(name, "-csv")
	}
	s.reportImpossible(results)
	s.reportStray(results)
	markup := s.json || strings.HasPrefix(strings.TrimSpace(s.text), "<")
	if all[i].lines && s.openEnd() && !markup {
		results[len(results)-1].Findings.Add(finding.LastLineOpen, "", nil)
	}
	return results, nil
}

// sniffBytes is the part of a file that is read to detect its format.
const sniffBytes = 64 << 10

// detect finds the format of a text. Documents may follow other text, but not that of another program.
func detect(text string) string {
	head := text[:min(len(text), sniffBytes)]
	if at := documentStart(head, len(head)); at >= 0 {
		name, before := detectJSON(head[at:]), detectText(head[:at])
		if name != "" && (before == "" || before == name) {
			return name
		}
		if strings.TrimSpace(head[:at]) == "" {
			return ""
		}
	}
	return detectText(head)
}

func detectText(head string) string {
	start := strings.TrimSpace(head)
	has := func(marks ...string) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(head, m) })
	}
	switch {
	case strings.HasPrefix(start, "<"):
		if has("<ntttcps", "<ntttcpr") {
			return "ntttcp"
		}
		return ""
	case has("NTTTCP for Linux "), has("Copyright Version ") && has("Network activity progressing"):
		return "ntttcp"
	case has("nuttcp-t: ", "nuttcp-r: "), has(" MB / ") && has(" Mbps"), strings.HasPrefix(start, "megabytes="):
		return "nuttcp"
	case has("HOST:") && has("Loss%") && has(".|--", ". AS"):
		return "mtr"
	case has("sockperf: ", sockperfLogBegins):
		return "sockperf"
	case has("PsPing v", " iterations (warmup "):
		return "psping"
	case has("Latency(usec)") && has("MsgSize(byte)"):
		return "latte"
	case has("lagscope ") && has("Ping statistics for ", "New connection: "):
		return "lagscope"
	case has(cpsEnd), has("T(sec)") && has("Conn/s"):
		return "cps"
	case isTestConnection(head):
		return "ping"
	case has("Ethr: ", "[RemoteAddress]  Proto"):
		return "ethr"
	case has(" TEST from "):
		return "netperf"
	case has("Connecting to host ", "Accepted connection from ", "iperf3: error - "):
		return "iperf3"
	case has("Client connecting to ", "Server listening on "):
		if has(", TCP port ", ", UDP port ", "on TCP port ", "on UDP port ") {
			return "iperf2"
		}
	case isIperf2CSV(start):
		return "iperf2-csv"
	case isFping(head):
		return "fping"
	}
	for line := range strings.Lines(head) {
		_, _, _, ok := pingBegins(line)
		if _, isRouter := routerTarget(line); ok || isRouter {
			return "ping"
		}
	}
	return ""
}

func detectJSON(start string) string {
	first := start[:min(len(start), 400)]
	switch {
	case strings.Contains(first, `"ntttcps"`), strings.Contains(first, `"ntttcpr"`):
		return "ntttcp"
	case strings.HasPrefix(first, `{"Time":`):
		return "ethr"
	case strings.Contains(first, `"report"`) && strings.Contains(first, `"mtr"`):
		return "mtr"
	case strings.Contains(first, `"start"`), strings.HasPrefix(first, `{"event":`):
		return "iperf3"
	}
	return ""
}

// isIperf2CSV reports whether the first line of a text, after those of standard error, is one of iperf -y C.
func isIperf2CSV(start string) bool {
	line, rest, more := strings.Cut(start, "\n")
	for more && (strings.Contains(line, " failed: ") || iperf2FailureIn(line) != "") {
		line, rest, more = strings.Cut(rest, "\n")
	}
	cells := strings.Split(line, ",")
	if len(cells) != 9 && len(cells) != 14 {
		return false
	}
	stamp, _, _ := strings.Cut(cells[0], ".")
	_, ok := number(stamp)
	return ok && len(stamp) == 14
}
