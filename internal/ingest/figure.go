package ingest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// most is larger than any figure of a network: bits per second, bytes, nanoseconds.
const most = 1e18

// plausible reports whether a figure may stand in a result.
func plausible(v float64) bool { return v >= 0 && v <= most }

// number reads a decimal number that is plausible.
func number(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "xXpP_nN") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && plausible(v)
}

// count reads a whole number that is plausible.
func count(text string) (int64, bool) {
	v, ok := number(text)
	return int64(v), ok && v == math.Trunc(v)
}

// scaledBy reads a number with an SI multiplier right behind it, such as 17.8G.
func scaledBy(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	factor := 1.0
	if text != "" {
		if i := strings.IndexByte("KMGT", text[len(text)-1]&^0x20); i >= 0 {
			factor, text = math.Pow10(3*(i+1)), text[:len(text)-1]
		}
	}
	v, ok := number(text)
	return v * factor, ok && plausible(v*factor)
}

// impossible reports whether a text is a number that no figure can be: not a number or an infinite one, as
// the systems' libraries write them, a negative one or one beyond all.
func impossible(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	if noNumber(text) {
		return true
	}
	v, err := strconv.ParseFloat(text, 64)
	return !strings.ContainsAny(text, "xp_") && (err == nil || math.IsInf(v, 0)) && !plausible(v)
}

// noNumber reports whether a text stands for an undefined or infinite number, such as "-nan", "NaN",
// "-nan(ind)", "Infinity" and "-1.#IND".
func noNumber(text string) bool {
	text = strings.TrimLeft(text, "+-")
	if rest, ok := strings.CutPrefix(text, "1.#"); ok { // of old C libraries on Windows, with digits after the word
		text = strings.TrimRight(rest, "0123456789")
	}
	return slices.ContainsFunc([]string{"nan", "nan(ind)", "nan(snan)", "inf", "infinity", "ind", "qnan", "snan"}, func(word string) bool { return strings.EqualFold(text, word) })
}

// lastDigit is the value of the last digit of a number.
func lastDigit(text string) float64 {
	_, decimals, _ := strings.Cut(text, ".")
	return math.Pow10(-min(len(decimals), 9))
}

// rounding is how a rate was taken from a line that has an amount, a time and a rate.
type rounding struct {
	slack    float64 // how far the rate may be from the program's, in bit/s
	computed bool    // from the amount and the time
}

// bestRate is the rate of a line that also has bytes and seconds, each with half of its last digit. Programs
// print rates of a given unit with a fixed number of decimals, of which a slow path leaves few digits or
// none. A rate of less than three digits is computed if that is more exact.
func bestRate(bps, slack, bytes, byteSlack, seconds, timeSlack float64) (float64, rounding) {
	const threeDigits = 0.005
	if seconds <= 0 || slack <= threeDigits*1.001*bps {
		return bps, rounding{slack: slack}
	}
	own := bytes * 8 / seconds
	ownSlack := byteSlack*8/seconds + own*timeSlack/seconds
	if ownSlack >= slack || !plausible(own) {
		return bps, rounding{slack: slack}
	}
	return own, rounding{ownSlack, own > 0}
}

// note records that the goodput of a result was computed, or is known with less than two digits.
func (d rounding) note(r *measure.Result, bps float64) {
	const oneDigit, noticeable = 0.05, 1 // bit/s
	if d.computed {
		missing(r, finding.GoodputComputed)
	}
	if d.slack > oneDigit*bps && d.slack >= noticeable {
		r.Findings.AddOnce(measure.NewFinding(finding.RateRounded, "", measure.Figures{"tool": r.Origin.Tool, "slack_bps": d.slack}))
	}
}

// add is the rounding of a sum of two rates.
func (d rounding) add(o rounding) rounding {
	return rounding{d.slack + o.slack, d.computed || o.computed}
}

// span reads a time with its unit, such as 69.119us or 1m2.5s, in ns.
func span(text string) (float64, bool) {
	d, err := measure.ParseDuration(strings.TrimSpace(text))
	return float64(d), err == nil && plausible(float64(d))
}

// nsOf turns milliseconds into a pointer to ns.
func nsOf(ms float64) *float64 { return new(ms * 1e6) }
