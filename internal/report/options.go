package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"soku/internal/measure"
)

// compareOptions sorts the options of a test into those with one value in
// every trial and those with several. Options that nobody set are left out.
func compareOptions(g labelled) (same, different []Option) {
	for _, f := range measure.OptionFields(g.test) {
		o := Option{Key: f.Key}
		for _, r := range g.results {
			if text := fieldText(f, r); !slices.Contains(o.Values, text) {
				o.Values = append(o.Values, text)
			}
		}
		switch {
		case len(o.Values) > 1:
			slices.SortFunc(o.Values, natural)
			different = append(different, o)
		case o.Values[0] != "":
			same = append(same, o)
		}
	}
	return same, different
}

// fieldText is an option's value for a person, empty for one that is not set.
func fieldText(f measure.OptionField, r *measure.Result) string {
	v := reflect.ValueOf(f.Pointer(&r.Options)).Elem()
	if v.IsZero() {
		return ""
	}
	if f.Key == "no_delay" {
		return "on"
	}
	return fmt.Sprint(v.Interface())
}

func optionText(r *measure.Result, key string) string {
	for _, f := range measure.OptionFields(r.Test) {
		if f.Key == key {
			return fieldText(f, r)
		}
	}
	return ""
}

// describe puts the options that a reader asks for first into words.
func describe(test measure.Test, same []Option) string {
	get := func(key string) string {
		for _, o := range same {
			if o.Key == key {
				return o.Values[0]
			}
		}
		return ""
	}
	parts := []string{map[measure.Test]string{
		measure.TestTCP: "TCP goodput", measure.TestUDP: "UDP goodput, loss and jitter",
		measure.TestLatency: "request/response time", measure.TestConnect: "TCP connections a second and their set-up time", measure.TestPing: "ICMP echo round trip",
		measure.TestTrace: "hops of the path", measure.TestMTU: "largest packet of the path",
	}[test]}
	add := func(format, key string) {
		if v := get(key); v != "" {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	if p := get("protocol"); p != "" {
		parts = append(parts, "over "+strings.ToUpper(p))
	}
	switch n := get("streams"); n {
	case "":
	case "1":
		parts = append(parts, map[bool]string{false: "1 stream", true: "1 at a time"}[test == measure.TestConnect])
	default:
		if test == measure.TestConnect {
			parts = append(parts, n+" at a time")
			break
		}
		parts = append(parts, n+" streams")
	}
	add("%s", "direction")
	add("at %s", "rate")
	if test == measure.TestConnect {
		add("%s connections a second", "request_rate")
		add("to port %s", "to_port")
	} else {
		add("%s requests a second", "request_rate")
	}
	if test != measure.TestTCP {
		add("payload of %s", "size")
	}
	if p := get("probe"); p != "" {
		parts = append(parts, strings.ToUpper(p)+" probes")
	}
	add("%s each", "duration")
	add("%s each", "bytes")
	switch test {
	case measure.TestConnect:
		add("%s connections each", "count")
	case measure.TestTrace:
		add("%s rounds each", "count")
	case measure.TestMTU: // tries of a size are a detail
	default:
		add("%s round trips each", "count")
	}
	return strings.Join(parts, ", ")
}
