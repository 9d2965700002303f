package messages

import (
	"math"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// functions are the ways in which a message writes a number. Arguments are numbers of any
// kind, measure's types among them.
func (l *Language) functions() template.FuncMap {
	return template.FuncMap{
		// rate writes bit/s: 941.5 Mbit/s.
		"rate": number(FormatRate),
		// bytes writes bytes, decimal: 1.250 GB.
		"bytes": number(FormatBytes),
		// sized writes bytes, binary where that is exact: 128 KiB.
		"sized": number(func(bytes float64) string { return FormatSize(int64(bytes)) }),
		// latency writes ns: 48.21 µs.
		"latency": number(FormatLatency),
		// duration writes ns as a span of time, to 10 ms: 1m30s.
		"duration": number(func(ns float64) string {
			if math.Abs(ns) < 1e8 { // tens of milliseconds would be all that is left of it
				return FormatLatency(ns)
			}
			return time.Duration(ns).Round(10 * time.Millisecond).String()
		}),
		// span writes ns as a span of time, exactly: 250ms.
		"span": number(func(ns float64) string { return time.Duration(ns).String() }),
		// quote writes a text in quotes, with anything unprintable escaped.
		"quote": strconv.Quote,
		// percent writes a ratio with up to three digits: 0.0123 is 1.23 %.
		"percent": number(func(ratio float64) string { return significant(3, ratio*100) + " %" }),
		// share writes a part of a whole with one decimal: 0.9333 is 93.3 %.
		"share": number(func(ratio float64) string { return strconv.FormatFloat(ratio*100, 'f', 1, 64) + " %" }),
		// whole writes a number without a fraction.
		"whole": number(func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }),
		// digits writes a number with n significant digits, and never fewer than it has
		// before the point: {{digits 3 .Rate}}.
		"digits": func(n int, v any) (string, error) {
			f, err := Float(v)
			return significant(n, f), err
		},
		// decimals writes a number with n decimals: {{decimals 2 .Cores}}.
		"decimals": func(n int, v any) (string, error) {
			f, err := Float(v)
			return strconv.FormatFloat(f, 'f', n, 64), err
		},
		// upper writes a name in capitals: UDP.
		"upper": strings.ToUpper,
		// factor writes how many times as much: 1.9, 12.
		"factor": number(func(ratio float64) string {
			if ratio >= 10 {
				return strconv.FormatFloat(ratio, 'f', 0, 64)
			}
			return strconv.FormatFloat(ratio, 'f', 1, 64)
		}),
		// events writes how many events a second: 45.7, 1235.
		"events": number(func(rate float64) string { return significant(3, rate) }),
		// more writes how much more that is: 1.301 is 30.1 %, 1.0002 is 0.02 %.
		"more": number(func(ratio float64) string {
			text := strconv.FormatFloat((ratio-1)*100, 'f', 1, 64)
			if text == "0.0" {
				text = significant(1, max((ratio-1)*100, 0.001))
			}
			return text + " %"
		}),
		// between writes a range of two texts, or one of them if they are equal.
		"between": l.between,
		// list writes names one after the other.
		"list": l.List,
		// phrases writes parts that may have commas of their own: a; b, c.
		"phrases": l.phrases,
		// enumerate writes names with a word before the last: a, b and c.
		"enumerate": l.Enumerate,
		// points writes a ratio times 100, with digits for its size: 126, 58.5, −0.82. With the ends
		// of its interval behind it, it has the decimals of all three.
		"points": func(ratio any, interval ...any) (string, error) {
			v, err := Float(ratio)
			if err != nil {
				return "", err
			}
			all, err := known(interval)
			if err != nil || inTimes(all) {
				all = nil
			}
			return pointsWith(pointsDecimals(append(all, v)...), v), err
		},
		// ratios writes an interval of how much more something is, both ends with as many
		// decimals: −4.0 to 2.2 %, and as many as the estimate where that is behind them, or more
		// where the ends would else be alike. One that
		// reaches ten times as much is written in times: 0.002 to 180 times.
		"ratios": func(low, high any, estimate ...any) (string, error) {
			ends, err := known([]any{low, high})
			if err != nil || len(ends) < 2 {
				return "", err
			}
			if inTimes(ends) {
				return l.Sentence("ratios.times", Args{"Low": times(1 + ends[0]), "High": times(1 + ends[1])})
			}
			more, err := known(estimate)
			n := pointsDecimals(append(more, ends...)...)
			if err != nil {
				return "", err
			}
			for n < mostDecimals && pointsWith(n, ends[0]) == pointsWith(n, ends[1]) {
				n++
			}
			return l.Sentence("ratios.percent", Args{"Low": pointsWith(n, ends[0]), "High": pointsWith(n, ends[1])})
		},
		// factors writes a ratio and the ends of its interval, all with as many decimals as the
		// ends need to differ: {{factors .Ratio .Low .High}} makes a list of three texts.
		"factors": func(all ...any) (out []string, err error) {
			values := make([]float64, len(all))
			for i, v := range all {
				if values[i], err = Float(v); err != nil {
					return nil, err
				}
			}
			return factors(values), nil
		},
		// multiples writes ratios as multiples does: {{multiples .Ratio .Low .High}} makes a list of three
		// texts.
		"multiples": func(all ...any) ([]string, error) {
			values, err := known(all)
			return multiples(values), err
		},
		// vague reports whether an interval of how much more something is excludes neither half
		// nor twice as much.
		"vague": func(low, high any) (bool, error) {
			from, err := Float(low)
			if err != nil {
				return false, err
			}
			to, err := Float(high)
			return from <= -0.5 && to >= 1, err
		},
		// less is how many a number is above another.
		"less": func(from, n any) (float64, error) {
			a, err := Float(from)
			if err != nil {
				return 0, err
			}
			b, err := Float(n)
			return a - b, err
		},
		// size is a number without its sign.
		"size": func(v any) (float64, error) {
			f, err := Float(v)
			return math.Abs(f), err
		},
		// seconds is ns in seconds.
		"seconds": func(v any) (float64, error) {
			f, err := Float(v)
			return f / 1e9, err
		},
		// given reports whether there is a figure that a sentence may do without.
		"given": func(v any) bool { return v != nil },
		// ago writes ns before now, in the largest whole unit: 2 days ago.
		"ago": l.ago,
		// reason writes why a path ends, by the code of measure.Reason.
		"reason": func(code string) (string, error) { return l.Sentence("reason."+code, nil) },
		// count writes how many of a thing there are, by the message count.THING.
		"count": func(thing string, n any) (string, error) {
			f, err := Float(n)
			if err != nil {
				return "", err
			}
			return l.Sentence("count."+thing, Args{"N": int64(f)})
		},
	}
}

// number makes a template function of one that formats a float64.
func number(format func(float64) string) func(any) (string, error) {
	return func(v any) (string, error) {
		f, err := Float(v)
		if err != nil {
			return "", err
		}
		return format(f), nil
	}
}
