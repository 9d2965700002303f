package iperf3

import (
	"bytes"
	"encoding/json"
	"math"

	"soku/internal/measure"
	"soku/internal/printable"
)

// members are those of a JSON object from outside. Numbers may come as integers or
// with an exponent; a member of another type than is wanted is as none, as iperf3
// has it.
type members map[string]json.RawMessage

func parseMembers(b []byte) (members, error) {
	var m members
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fail("iperf3.message.not_json", measure.Figures{"cause": err})
	}
	if m == nil {
		return nil, fail("iperf3.message.not_an_object", nil)
	}
	return m, nil
}

// real is a number, and whether there is one.
func (m members) real(name string) (float64, bool) {
	raw, ok := m[name]
	if !ok {
		return 0, false
	}
	var f float64
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, &f) != nil {
		return 0, false
	}
	return f, true
}

// whole is a number without its fraction, held to what an int64 has, and whether
// there is one. Versions before 3.13 write a negative one as what 64 bits without a
// sign make of it.
func (m members) whole(name string) (int64, bool) {
	var n int64
	var unsigned uint64
	raw, ok := m[name]
	switch {
	case !ok || bytes.Equal(raw, []byte("null")):
		return 0, false
	case json.Unmarshal(raw, &n) == nil:
		return n, true
	case json.Unmarshal(raw, &unsigned) == nil:
		return int64(unsigned), true
	}
	f, ok := m.real(name)
	switch {
	case !ok:
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// between is a number of the range, 0 for none.
func (m members) between(name string, least, most int64) (int64, error) {
	n, ok := m.whole(name)
	if !ok {
		return 0, nil
	}
	if n < least || n > most {
		return 0, outOfRange(name, n, least, most)
	}
	return n, nil
}

// truth is true for true and for a number, such as versions write for it, that is not 0.
func (m members) truth(name string) bool {
	var b bool
	if json.Unmarshal(m[name], &b) == nil && b {
		return true
	}
	n, ok := m.whole(name)
	return ok && n != 0
}

// text is a string as one printable line of at most maxText bytes; a longer one is cut.
func (m members) text(name string) string { return printable.Line(m.longText(name, maxText)) }

// longText is a string of several lines, see package printable.
func (m members) longText(name string, most int) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return printable.Text(s[:min(len(s), most)])
}

// OutOfRangeError is the cause of a failure that is due to a member of the parameters that
// iperf3 does not allow.
type OutOfRangeError struct{ Member string }

// Error names the member; the failure that it causes has the range, too.
func (e *OutOfRangeError) Error() string { return e.Member + " out of range" }

func outOfRange(member string, value, least, most int64) error {
	e := measure.Fail(measure.KindRefused, "iperf3.message.out_of_range", measure.Figures{"member": member, "value": value, "least": least, "most": most})
	if most == math.MaxInt64 {
		e = measure.Fail(measure.KindRefused, "iperf3.message.too_small", measure.Figures{"member": member, "value": value, "least": least})
	}
	return e.WithCause(&OutOfRangeError{member})
}
