package option

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"soku/internal/measure"
)

// notListed are options that say how a trial was reached, recorded and shown, and not what it was.
var notListed = []string{"port", "interval", "connect_timeout", "tos", "bind", "series"}

// Changed are the effective options of a trial that differ from what the test has
// when nothing is asked, as flags in the order of help: "-P 16 -b 100M". What follows from
// other options is left out, and so is what the source of an ingested result does not give.
func Changed(r *measure.Result) string {
	test, o := r.Test, r.Options
	usual := Defaults(test)
	usual.Streams, usual.Via = o.Streams, o.Via // on which others depend
	if effective, err := Effective(usual, test); err == nil {
		usual = effective
	}
	plain := Defaults(test)
	usual.Streams, usual.Via = plain.Streams, plain.Via
	var out []string
	for _, f := range Fields(test) {
		value, is := f.value(&o), f.value(&usual)
		if slices.Contains(notListed, f.Key) || reflect.DeepEqual(value.Interface(), is.Interface()) || value.IsZero() && (f.Key == "duration" || r.Origin != nil) {
			continue
		}
		out = append(out, f.asFlag(value))
	}
	return strings.Join(out, " ")
}

// asFlag is the flag that sets the option to the value.
func (f Field) asFlag(value reflect.Value) string {
	name := "--" + f.Flag
	if f.Short != "" {
		name = "-" + f.Short
	}
	var text string
	switch v := value.Interface().(type) {
	case bool:
		if v {
			return name
		}
		return name + "=false"
	case measure.Direction:
		switch v {
		case measure.Reverse:
			return "-R"
		case measure.Bidirectional:
			return "--bidir"
		}
		return name + " " + string(v)
	case measure.Rate:
		text = measure.FormatDecimal(int64(v))
	case measure.Size:
		text = measure.FormatDecimal(int64(v))
		if v >= 1024 && v%1024 == 0 && len(text) > 4 {
			text = strings.TrimSuffix(strings.ReplaceAll(v.String(), " ", ""), "B")
		}
	case measure.Duration:
		text = v.String()
	default:
		text = fmt.Sprint(v)
	}
	if f.Bare != "" { // its value needs an equals sign
		return "--" + f.Flag + "=" + text
	}
	return name + " " + text
}
