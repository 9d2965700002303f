package ingest

import "strings"

// iperf2Row is a line of figures of a stream.
type iperf2Row struct {
	iperfFigures
	retries               float64
	lost, total           int64
	jitter                *float64 // ms
	hasRetries, datagrams bool
	absent                bool // a figure cannot be
	bounces               *iperf2Bounces
}

// iperf2Bounces is the round trips of --bounceback in ms.
type iperf2Bounces struct{ count, mean, least, most, deviation float64 }

func startsWithDigit(text string) bool {
	text = strings.TrimLeft(text, " ")
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// iperf2Figures reads "0.0000-1.0000" or "0.0- 1.0", and "2.16 GBytes  18.5 Gbits/sec" with what
// follows: jitter and losses of datagrams, writes and retries with -e, or round trips.
func iperf2Figures(interval, rest string) (row iperf2Row, ok bool) {
	words := strings.Fields(rest)
	if len(words) < 4 {
		return row, false
	}
	if row.iperfFigures, ok = readIperfFigures(interval, words[0], words[2], iperfUnit(words[1]), iperfUnit(words[3])); !ok {
		return row, false
	}
	tail := words[4:]
	switch {
	case len(tail) < 2:
	case strings.Contains(tail[0], "=") && strings.Count(tail[0], "/") == 3 && tail[1] == "ms":
		row.bounces, ok = iperf2RoundTrips(tail[0])
		if len(tail) > 2 {
			row.retries, row.hasRetries = number(tail[2])
		}
		return row, ok
	case tail[1] == "ms" && !strings.Contains(tail[0], "/"):
		return row, row.losses(tail)
	case strings.Contains(tail[0], "/") && (len(tail) < 3 || tail[2] != "pps"):
		row.retries, row.hasRetries = number(tail[1]) // after the writes
	}
	return row, true
}

// losses reads "0.006 ms 0/893 (0%)", which 2.0 writes as "0/  893 (0%)".
func (r *iperf2Row) losses(tail []string) bool {
	if len(tail) < 3 {
		return false
	}
	lost, total, _ := strings.Cut(tail[2], "/")
	if total == "" && len(tail) > 3 {
		total = tail[3]
	}
	return r.counts(tail[0], lost, total)
}

// counts takes the jitter in ms and the losses of a line, each if it can be.
func (r *iperf2Row) counts(jitter, lost, total string) bool {
	r.lost, r.total, r.datagrams = iperfLosses(lost, total)
	ok := r.datagrams || impossibleLosses(lost, total)
	if v, good := number(jitter); good {
		r.jitter = &v
	} else {
		ok = ok && impossible(jitter)
	}
	r.absent = !r.datagrams || r.jitter == nil
	return ok
}

// iperf2RoundTrips reads "20=0.039/0.017/0.375/0.080": their number, and mean, least, most and
// deviation.
func iperf2RoundTrips(text string) (*iperf2Bounces, bool) {
	n, figures, _ := strings.Cut(text, "=")
	parts := strings.Split(figures, "/")
	if len(parts) != 4 {
		return nil, false
	}
	b := &iperf2Bounces{}
	for text, to := range map[*string]*float64{&n: &b.count, &parts[0]: &b.mean, &parts[1]: &b.least, &parts[2]: &b.most, &parts[3]: &b.deviation} {
		v, ok := number(*text)
		if !ok || v > 1e12 {
			return nil, false
		}
		*to = v
	}
	return b, true
}
