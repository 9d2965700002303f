package ingest

import (
	"math"
	"slices"
	"strings"
)

// iperf2Row is a line of figures of a stream.
type iperf2Row struct {
	from, to, bytes, bps  float64
	slack                 float64 // of bps: half of its last digit
	retries, lost, total  float64
	jitter                float64 // ms
	hasRetries, datagrams bool
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
	from, to, _ := strings.Cut(interval, "-")
	words := strings.Fields(rest)
	if len(words) < 4 {
		return row, false
	}
	var good [4]bool
	row.from, good[0] = number(from)
	row.to, good[1] = number(to)
	row.bytes, good[2] = number(words[0])
	row.bps, good[3] = number(words[2])
	amount, rate := iperfUnit(words[1]), iperfUnit(words[3])
	row.slack = lastDigit(words[2]) / 2 * rate
	row.bytes, row.bps = row.bytes*amount, row.bps*rate
	if slices.Contains(good[:], false) || amount == 0 || rate == 0 || row.to < row.from || row.to > 1e7 || !plausible(row.bytes) || !plausible(row.bps) {
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

// lastDigit is the value of the last digit of a number.
func lastDigit(text string) float64 {
	_, decimals, _ := strings.Cut(text, ".")
	return math.Pow10(-min(len(decimals), 9))
}

// losses reads "0.006 ms 0/893 (0%)", which 2.0 writes as "0/  893 (0%)". Late datagrams make the
// loss negative.
func (r *iperf2Row) losses(tail []string) bool {
	if len(tail) < 3 {
		return false
	}
	lost, total, found := strings.Cut(tail[2], "/")
	if total == "" && len(tail) > 3 {
		total = tail[3]
	}
	var a, b, c bool
	r.jitter, a = number(tail[0])
	if strings.HasPrefix(lost, "-") {
		lost = "0"
	}
	r.lost, b = number(lost)
	r.total, c = number(total)
	r.datagrams = found && a && b && c && r.lost <= r.total
	return r.datagrams
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

// iperfUnit: iperf counts bytes by 1024 and bits by 1000.
func iperfUnit(unit string) float64 {
	unit, per, _ := strings.Cut(unit, "/")
	if per != "" && per != "sec" {
		return 0
	}
	bits := strings.HasSuffix(unit, "bits")
	prefix, ok := strings.CutSuffix(unit, "bits")
	if !bits {
		prefix, ok = strings.CutSuffix(unit, "Bytes")
	}
	i := strings.Index("KMGT", prefix)
	if !ok || len(prefix) > 1 || i < 0 {
		return 0
	}
	factor := 1.0
	for range min(len(prefix), 1) * (i + 1) {
		if bits {
			factor *= 1000
		} else {
			factor *= 1024
		}
	}
	if per == "sec" && !bits {
		factor *= 8 // a rate in bytes
	}
	return factor
}
