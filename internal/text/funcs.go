package text

import (
	"math"
	"strconv"
	texttemplate "text/template"
	"time"

	"soku/internal/measure"
)

// funcs are the ways in which a message writes a number. Arguments are numbers of any
// kind, measure's types among them.
func (c *Catalogue) funcs() texttemplate.FuncMap {
	return texttemplate.FuncMap{
		// rate writes bit/s: 941.5 Mbit/s.
		"rate": number(measure.FormatRate),
		// bytes writes bytes, decimal: 1.250 GB.
		"bytes": number(measure.FormatBytes),
		// latency writes ns: 48.21 µs.
		"latency": number(measure.FormatLatency),
		// duration writes ns as a span of time, to 10 ms: 1m30s.
		"duration": number(func(ns float64) string { return time.Duration(ns).Round(10 * time.Millisecond).String() }),
		// percent writes a ratio with up to three digits: 0.0123 is 1.23 %.
		"percent": number(func(ratio float64) string { return strconv.FormatFloat(ratio*100, 'g', 3, 64) + " %" }),
		// whole writes a number without a fraction.
		"whole": number(func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }),
		// digits writes a number with so many significant digits: {{digits 3 .Rate}}.
		"digits": func(n int, v any) (string, error) {
			f, err := toFloat(v)
			return strconv.FormatFloat(f, 'g', n, 64), err
		},
		// decimals writes a number with so many decimals: {{decimals 2 .Cores}}.
		"decimals": func(n int, v any) (string, error) {
			f, err := toFloat(v)
			return strconv.FormatFloat(f, 'f', n, 64), err
		},
		// factor writes how many times as much: 1.9, 12.
		"factor": number(func(ratio float64) string {
			if ratio >= 10 {
				return strconv.FormatFloat(ratio, 'f', 0, 64)
			}
			return strconv.FormatFloat(ratio, 'f', 1, 64)
		}),
		// more writes how much more that is: 1.301 is 30.1 %.
		"more": number(func(ratio float64) string { return strconv.FormatFloat((ratio-1)*100, 'f', 1, 64) + " %" }),
		// figure writes a value of a metric with its unit: {{figure .Metric .Value}}.
		"figure": c.figure,
		// figures writes several values of a metric, or the range of more than three.
		"figures": c.figures,
		// list writes names one after the other.
		"list": c.List,
		// phrases writes parts that may have commas of their own: a; b, c.
		"phrases": c.phrases,
		// enumerate writes names with a word before the last: a, b and c.
		"enumerate": c.enumerate,
		// points writes a ratio times 100, with digits for its size: 126, 58.5, −0.82.
		"points": number(points),
		// size is a number without its sign.
		"size": func(v any) (float64, error) {
			f, err := toFloat(v)
			return math.Abs(f), err
		},
		// seconds is ns in seconds.
		"seconds": func(v any) (float64, error) {
			f, err := toFloat(v)
			return f / 1e9, err
		},
		// given tells whether there is a figure that a sentence may do without.
		"given": func(v any) bool { return v != nil },
		// where writes the end or the direction that a finding is about.
		"where": c.Where,
		// ago writes ns before now, in the largest whole unit: 2 days ago.
		"ago": c.ago,
		// count writes how many of a thing there are, by the message count.THING.
		"count": func(thing string, n any) (string, error) {
			f, err := toFloat(n)
			if err != nil {
				return "", err
			}
			return c.say("count."+thing, Args{"N": int64(f)})
		},
	}
}

// number makes a template function of one that formats a float64.
func number(format func(float64) string) func(any) (string, error) {
	return func(v any) (string, error) {
		f, err := toFloat(v)
		if err != nil {
			return "", err
		}
		return format(f), nil
	}
}
