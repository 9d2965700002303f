package ingest

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// ntttcpText reads what ntttcp for Linux and NTttcp for Windows print. Linux gives the bytes, a
// rounded throughput and the end; Windows prints tables, with figures of 2^20 bytes, and does not
// name the end.
func (s *Source) ntttcpText() ([]*measure.Result, error) {
	command := "" // of a shell, right before the output
	out, err := s.runs(func(line string, at, record int) (run, error) {
		linux, isLinux := strings.CutPrefix(line, "NTTTCP for Linux ")
		windows, isWindows := strings.CutPrefix(line, "Copyright Version ")
		switch {
		case !isLinux && !isWindows:
			command = line
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.logs", measure.Figures{"limit": maxRecords})
		}
		l := &ntttcpLog{line: at, version: short(windows), values: map[string]float64{}}
		if isLinux {
			l.version = short(linux) + "-linux" // as the log of -x has it
			return &ntttcpLinux{l: l, record: record}, nil
		}
		return &ntttcpWindows{l: l, record: record, command: strings.Fields(command)}, nil
	})
	for _, r := range out {
		missing(r, finding.RoundedFigures, finding.NoHostFacts)
	}
	return out, err
}

// ntttcpLinux is a run of ntttcp for Linux while its lines are read.
type ntttcpLinux struct {
	l          *ntttcpLog
	record     int
	bytes, bps float64
	slack      float64 // of bps
	hasTotals  bool
	tcp, cores bool
	problem    string
}

// line reads a line with or without its time, "10:37:58 INFO: ".
func (p *ntttcpLinux) line(s *Source, at int, line string) error {
	if _, rest, ok := strings.Cut(line, " ERR : "); ok && p.problem == "" {
		p.problem = rest
	}
	if _, rest, ok := strings.Cut(line, " INFO: "); ok {
		line = rest
	}
	name, value, found := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	l := p.l
	switch {
	case strings.HasSuffix(line, " connections tested"), strings.Contains(line, " connections created in "):
		l.sender = true
		if n, ok := count(strings.Fields(line)[0]); ok {
			l.threads = int(min(n, 1<<20))
		}
	case strings.HasPrefix(line, "*** sender role"):
		l.sender = true
	case name == "protocol":
		l.udp = value == "UDP"
	case strings.HasPrefix(line, "the UDP send size"):
		l.udp = true
	case !found:
	case name == "test duration":
		return p.figure(s, at, value, "seconds", &l.time)
	case name == "total bytes":
		return p.figure(s, at, value, "", &p.bytes)
	case name == "throughput":
		return p.throughput(s, at, value)
	case name == "retrans segs":
		p.tcp = true
		if n, ok := number(value); ok {
			l.values["packets_retransmitted"] = n
		}
	case name == "cpu cores":
		p.cores = true
	case name == "server port starting at":
		if n, ok := number(value); ok {
			l.values["port"] = n
		}
	case name == "test duration (sec)":
		if n, ok := number(value); ok {
			l.values["run_time"] = n
		}
	}
	return nil
}

func (p *ntttcpLinux) figure(s *Source, at int, text, unit string, to *float64) error {
	v, ok := number(strings.TrimSpace(strings.TrimSuffix(text, unit)))
	if !ok {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "ntttcp", "text": short(text)})
	}
	*to = v
	return nil
}

// throughput reads 29.43Gbps.
func (p *ntttcpLinux) throughput(s *Source, at int, text string) error {
	number, hasUnit := strings.CutSuffix(text, "bps")
	v, ok := scaledBy(number)
	if !ok || !hasUnit {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "ntttcp", "text": short(text)})
	}
	unit, _ := scaledBy("1" + strings.TrimLeft(number, "0123456789."))
	p.bps, p.slack, p.hasTotals = v, lastDigit(strings.TrimRight(number, "KMGTkmgt"))/2*unit, true
	return nil
}

func (p *ntttcpLinux) result(s *Source) (*measure.Result, error) {
	l := p.l
	l.udp = l.udp || p.cores && !p.tcp // only of TCP there are retransmits in this table
	if !p.hasTotals && p.problem != "" {
		r := l.reading(p.record)
		kind := measure.KindBroken
		if strings.Contains(p.problem, "busy") {
			kind = measure.KindRefused
		}
		r.Error = measure.Fail(kind, "ingest.ntttcp.reported", measure.Figures{"cause": short(p.problem)})
		return r, nil
	}
	if !p.hasTotals || l.time <= 0 || l.time > 1e6 {
		return nil, s.cutOff("ingest.cut_off.ntttcp_totals", nil)
	}
	r := l.reading(p.record)
	l.fill(r, p.bps, p.slack, l.time, int64(p.bytes))
	return r, nil
}

// ntttcpWindows is a run of NTttcp for Windows while its lines are read.
type ntttcpWindows struct {
	l       *ntttcpLog
	record  int
	command []string
	totals  bool
	header  string
	columns []string // of the table whose values follow
}

func (p *ntttcpWindows) line(_ *Source, _ int, line string) error {
	words := strings.Fields(line)
	switch {
	case strings.Contains(line, "Totals:"):
		p.totals = true
	case len(words) == 0:
	case strings.Trim(line, "= ") == "":
		p.columns = columnNames(p.header, line)
	case p.columns != nil && len(words) == len(p.columns) && !p.totals:
		p.l.threads++
	case p.columns != nil && len(words) == len(p.columns):
		for i, name := range p.columns {
			if v, ok := number(words[i]); ok {
				p.l.values[name] = v
			}
		}
		p.columns = nil
	default:
		p.header, p.columns = line, nil
	}
	return nil
}

// columnNames cuts the header of a table at the columns of the line of "=" below it.
func columnNames(header, rule string) (out []string) {
	for at := 0; at < len(rule) && len(out) < maxColumns; {
		begin := at + strings.IndexByte(rule[at:]+"=", '=')
		end := begin
		for end < len(rule) && rule[end] == '=' {
			end++
		}
		if begin >= len(rule) {
			break
		}
		out = append(out, strings.TrimSpace(header[min(begin, len(header)):min(end, len(header))]))
		at = end
	}
	return out
}

func (p *ntttcpWindows) result(s *Source) (*measure.Result, error) {
	v := p.l.values
	rate, hasRate := v["Throughput(MB/s)"]
	length, bytes := v["realtime(s)"], v["Bytes(MEG)"]*(1<<20)
	if !hasRate || length <= 0 || length > 1e6 || !plausible(rate*(8<<20)) || !plausible(bytes) {
		return nil, s.cutOff("ingest.cut_off.ntttcp_totals", nil)
	}
	l := p.l
	if n, ok := v["Retransmits"]; ok {
		l.values["packets_retransmitted"] = n
	}
	known := p.end()
	r := l.reading(p.record)
	if !known { // as of a receiver, and without an end
		missing(r, finding.CounterUnknown)
	}
	l.fill(r, rate*(8<<20), thirdDecimal*(8<<20), length, int64(bytes))
	if !known {
		r.Origin.End, r.Hosts, r.Flows[0].Summary.ReceivedBytes, r.Summary.ReceivedBytes = "", measure.Hosts{}, 0, 0
	}
	return r, nil
}

// end finds out which end printed the output: by the command before it, or by its packets, as the
// receiver sends only acknowledgements.
func (p *ntttcpWindows) end() (known bool) {
	l, isCommand := p.l, false
	for _, word := range p.command {
		isCommand = isCommand || strings.Contains(strings.ToLower(word), "ntttcp")
		switch {
		case !isCommand:
		case strings.HasPrefix(word, "-s") && word != "-sb":
			l.sender, known = true, true
		case word == "-u":
			l.udp = true
		case word == "-r" || strings.HasPrefix(word, "-r") && len(word) > 3:
			known = true
		}
	}
	if known {
		return true
	}
	const clearly = 2
	sent, got := l.values["Packets Sent"], l.values["Packets Received"]
	l.sender = sent > clearly*got
	return l.sender || got > clearly*sent
}
