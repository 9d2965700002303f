package measure

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Bounds of a series: what a host writes keeps to them, and what breaks them is refused
// when it is decoded.
const (
	SeriesReadings  = 600     // moments
	SeriesColumns   = 1024    // keys
	SeriesKeyLength = 64      // bytes of a key
	SeriesLength    = 8 << 20 // bytes of the encoded series
)

// Series is what the counters of a host did during a trial, as its document has it. A
// decoded document keeps it encoded until [Series.Values] is called, because most readers of
// many results never look at it. It is not changed after it was
// made, and is then safe for concurrent use.
type Series struct {
	values *SeriesValues   // of a series that was made here
	raw    json.RawMessage // of a decoded one
}

// SeriesValues are the figures of a [Series]: one row of [SeriesValues.Columns] is what one
// counter did. The keys and their units are in docs/reference/result.md.
type SeriesValues struct {
	// AtNs are the moments of the readings since the host started the trial, increasing, the first 0.
	AtNs []int64 `json:"at_ns" jsonschema:"maxItems=600,description=Moments of the readings since the host started the trial; increasing\\, the first is 0"`
	// Columns have one element less: one an interval between two readings. A counter has
	// its difference over the interval, a gauge its value at the end of it; -1 is unknown.
	Columns map[string][]int64 `json:"columns" jsonschema:"description=One value per interval between two readings: the difference of a counter\\, the value of a gauge at the interval's end\\, -1 if unknown"`
}

// NewSeries is a series of these values, which the caller must not change afterwards. Their
// keys are [SeriesKey]s.
func NewSeries(v SeriesValues) *Series { return &Series{values: &v} }

// Total is what a counter did in the whole time, without the intervals in which it is not
// known, or 0 for a column that is not there.
func (v SeriesValues) Total(key string) (total int64) {
	for _, n := range v.Columns[key] {
		total += max(n, 0)
	}
	return total
}

// ErrSeries means that a series of a document is not one: its form or its bounds are broken.
var ErrSeries = errors.New("the series of a host is invalid")

// Values are the figures, decoded; none for a nil series. The error is [ErrSeries]. Callers
// must not change them.
func (s *Series) Values() (SeriesValues, error) {
	switch {
	case s == nil:
		return SeriesValues{}, nil
	case s.values != nil:
		return *s.values, nil
	}
	return decodeSeries(s.raw)
}

// UnmarshalJSON keeps the text, unless it has characters that no series has: a terminal may
// take them for commands.
func (s *Series) UnmarshalJSON(b []byte) error {
	*s = Series{}
	if len(b) > SeriesLength {
		return nil
	}
	for _, c := range b {
		if c > '~' || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return nil
		}
	}
	s.raw = slices.Clone(b)
	return nil
}

// MarshalJSON writes the text that was read, or the values with their keys in order.
func (s *Series) MarshalJSON() ([]byte, error) {
	if s.values == nil {
		if s.raw == nil {
			return []byte("null"), nil
		}
		return s.raw, nil
	}
	v := s.values
	out := make([]byte, 0, 64+8*len(v.AtNs)*(1+len(v.Columns)))
	out = append(out, `{"at_ns":`...)
	out = appendNumbers(out, v.AtNs)
	out = append(out, `,"columns":{`...)
	for i, key := range slices.Sorted(maps.Keys(v.Columns)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), key...), '"', ':')
		out = appendNumbers(out, v.Columns[key])
	}
	return append(out, '}', '}'), nil
}

func appendNumbers(out []byte, numbers []int64) []byte {
	out = append(out, '[')
	for i, n := range numbers {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return append(out, ']')
}

// decodeSeries allocates no more than what the bounds allow, whatever b claims. Members
// that this version does not know are skipped.
func decodeSeries(b []byte) (v SeriesValues, err error) {
	if len(b) > SeriesLength || !json.Valid(b) {
		return SeriesValues{}, ErrSeries
	}
	v.Columns = map[string][]int64{}
	members := func(key string, b []byte) bool {
		switch key {
		case "at_ns":
			v.AtNs = numbers(b, SeriesReadings)
			return v.AtNs != nil
		case "columns":
			return eachMember(b, func(key string, b []byte) bool {
				if !SeriesKey(key) || len(v.Columns) >= SeriesColumns {
					return false
				}
				column := numbers(b, SeriesReadings-1)
				v.Columns[key] = column
				return column != nil
			})
		}
		return true
	}
	if !eachMember(b, members) || !v.whole() {
		return SeriesValues{}, ErrSeries
	}
	return v, nil
}

// whole reports whether the columns fit to the moments.
func (v SeriesValues) whole() bool {
	if len(v.AtNs) == 0 || v.AtNs[0] != 0 || !slices.IsSorted(v.AtNs) {
		return false
	}
	for _, column := range v.Columns {
		if len(column) != len(v.AtNs)-1 {
			return false
		}
	}
	return true
}

// SeriesKey reports whether text may be the key of a column: 1 to [SeriesKeyLength] letters,
// digits, dots, underscores and hyphens of ASCII.
func SeriesKey(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return text != "" && len(text) <= SeriesKeyLength
}

// eachMember calls with each member of an object that is valid JSON, until it is false.
func eachMember(b []byte, call func(key string, value []byte) bool) bool {
	at := space(b, 0)
	if at >= len(b) || b[at] != '{' {
		return false
	}
	for at = space(b, at+1); b[at] != '}'; at = space(b, at) {
		if b[at] == ',' {
			at = space(b, at+1)
		}
		end := text(b, at)
		key := string(b[at+1 : end-1])
		at = space(b, space(b, end)+1) // after the colon
		end = value(b, at)
		if !call(key, b[at:end]) {
			return false
		}
		at = end
	}
	return true
}

// numbers are the integers of an array that is valid JSON, or nil if it is not one, holds
// another value or has more than most.
func numbers(b []byte, most int) []int64 {
	if b[0] != '[' {
		return nil
	}
	out := make([]int64, 0, min(most, len(b)/2))
	for at := space(b, 1); b[at] != ']'; at = space(b, at) {
		if b[at] == ',' {
			at = space(b, at+1)
		}
		end := value(b, at)
		n, err := strconv.ParseInt(string(b[at:end]), 10, 64)
		if err != nil || len(out) == most {
			return nil
		}
		out = append(out, n)
		at = end
	}
	return out
}
