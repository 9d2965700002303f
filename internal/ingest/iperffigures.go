package ingest

import "strings"

// iperfFigures is what a line of figures of iperf 2 or iperf3 has in every form: an interval in s,
// an amount and a rate.
type iperfFigures struct {
	from, to, bytes, bps float64
	rounding
}

// readIperfFigures reads an interval, "0.00-1.00" or "0.0- 1.0", an amount and a rate. The factors are
// those of their units, 0 for an unknown unit.
func readIperfFigures(interval, amount, rate string, bytes, bps float64) (f iperfFigures, ok bool) {
	from, to, _ := strings.Cut(interval, "-")
	ok = bytes > 0 && bps > 0
	for _, v := range []struct {
		text   string
		factor float64
		to     *float64
	}{{from, 1, &f.from}, {to, 1, &f.to}, {amount, bytes, &f.bytes}, {rate, bps, &f.bps}} {
		n, good := number(v.text)
		*v.to = n * v.factor
		ok = ok && good && plausible(*v.to)
	}
	if ok = ok && f.from <= f.to && f.to <= 1e7; ok {
		slack := lastDigit(to) / 2
		if f.from > 0 {
			slack *= 2
		}
		f.bps, f.rounding = bestRate(f.bps, lastDigit(rate)/2*bps, f.bytes, lastDigit(amount)/2*bytes, f.to-f.from, slack)
	}
	return f, ok
}

// iperfUnit is the factor of a unit: iperf counts bytes by 1024 and bits by 1000. It is 0 for an
// unknown one.
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

// iperfLosses reads how many of how many datagrams were lost. Late datagrams make the loss
// negative.
func iperfLosses(lost, total string) (l, n int64, ok bool) {
	lost, late := strings.CutPrefix(lost, "-")
	l, ok = count(lost)
	n, whole := count(total)
	if late {
		l = 0
	}
	return l, n, ok && whole && l <= n
}

// impossibleLosses reports whether a pair that [iperfLosses] refuses is one of counts that cannot be, and
// not of another text.
func impossibleLosses(lost, total string) bool {
	isCount := func(text string) bool { _, ok := number(text); return ok || impossible(text) }
	return isCount(lost) && isCount(total)
}
