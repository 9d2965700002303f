package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"soku/internal/text/messages"
)

// Rate is bits per second. In JSON it is a number; in plans and flags a text
// such as "50M", "1.5Gbit/s" or "800k". Multipliers are decimal (k = 1000);
// Ki, Mi, Gi are binary.
type Rate int64

// Size is bytes. In JSON it is a number; in plans and flags a text such as
// "128Ki", "10MB" or "1448". Multipliers are decimal (k = 1000); Ki, Mi, Gi
// are binary.
type Size int64

// Duration is nanoseconds. In JSON it is a number; in plans and flags a text
// such as "10s", "250ms" or "2m30s". A bare number is seconds.
type Duration time.Duration

// Percent is a ratio above 0 and up to 1. In JSON it is the ratio; in plans and flags a
// text such as "3%".
type Percent float64

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

var multipliers = map[string]float64{
	"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
	"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40,
}

// parseScaled reads number + multiplier + one of the unit words, and returns
// a whole number in 0..MaxInt64.
func parseScaled(what, text string, units ...string) (int64, error) {
	wrong := func(code string) error {
		return Fail(KindUsage, "option."+what+"."+code, Figures{"text": text})
	}
	s := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u); ok {
			s = rest
			break
		}
	}
	digits := len(s)
	for digits > 0 && (s[digits-1] < '0' || s[digits-1] > '9') && s[digits-1] != '.' {
		digits--
	}
	factor, ok := multipliers[s[digits:]]
	if !ok {
		return 0, wrong("unit")
	}
	number := s[:digits]
	if number == "" || strings.ContainsAny(number, "xXpP_einEIN") {
		return 0, wrong("number")
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, wrong("number")
	}
	v *= factor
	if v < 0 || v >= math.MaxInt64 {
		return 0, wrong("range")
	}
	return int64(math.Round(v)), nil
}

// ParseRate reads a rate in bits per second.
func ParseRate(text string) (Rate, error) {
	v, err := parseScaled("rate", text, "bit/s", "bits/s", "bps", "b/s", "bit")
	return Rate(v), err
}

// ParseSize reads a size in bytes.
func ParseSize(text string) (Size, error) {
	v, err := parseScaled("size", text, "bytes", "byte", "b")
	return Size(v), err
}

// ParseCount reads a number of things, or of things per second, such as "1.2M packets/s".
func ParseCount(text string) (int64, error) {
	return parseScaled("count", text, "packets/s", "connections/s", "/s")
}

// ParseDuration reads a duration; a bare number is seconds.
func ParseDuration(text string) (Duration, error) {
	s := strings.TrimSpace(text)
	d, err := time.ParseDuration(s)
	if err != nil {
		seconds, serr := strconv.ParseFloat(s, 64)
		if serr != nil || math.IsNaN(seconds) || math.Abs(seconds) > 1e9 {
			return 0, Fail(KindUsage, "option.duration.number", Figures{"text": text})
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return 0, Fail(KindUsage, "option.duration.negative", Figures{"text": text})
	}
	return Duration(d), nil
}

// ParsePercent reads a percentage above 0 and up to 100 %.
func ParsePercent(text string) (Percent, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(v > 0 && v <= 100) {
		return 0, Fail(KindUsage, "option.percent", Figures{"text": text})
	}
	return Percent(v / 100), nil
}

// String is the rate in the largest decimal unit, four digits: "941.5 Mbit/s".
func (r Rate) String() string { return messages.FormatRate(float64(r)) }

// String is the size in the unit that shows it exactly where there is one: "128 KiB", "1448 B".
func (s Size) String() string { return messages.FormatSize(int64(s)) }

// String is Go's form: "10s", "250ms".
func (d Duration) String() string { return time.Duration(d).String() }

// String is the text that plans have: "3%", or "" for 0, which stands for none.
func (p Percent) String() string {
	if p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(p)*100, 'g', 6, 64) + "%"
}

// Set, Type: pflag.Value, so that a flag is the type itself.

// Set reads text as [ParseRate] does.
func (r *Rate) Set(text string) (err error) { *r, err = ParseRate(text); return err }

// Set reads text as [ParseSize] does.
func (s *Size) Set(text string) (err error) { *s, err = ParseSize(text); return err }

// Set reads text as [ParseDuration] does.
func (d *Duration) Set(text string) (err error) { *d, err = ParseDuration(text); return err }

// Set reads text as [ParsePercent] does.
func (p *Percent) Set(text string) (err error) { *p, err = ParsePercent(text); return err }

// Type names the value in help texts.
func (p *Percent) Type() string { return "percent" }

// Type names the value in help texts.
func (r *Rate) Type() string { return "rate" }

// Type names the value in help texts.
func (s *Size) Type() string { return "size" }

// Type names the value in help texts.
func (d *Duration) Type() string { return "duration" }

// UnmarshalYAML reads the text of a YAML scalar.
func (r *Rate) UnmarshalYAML(b []byte) error { return r.Set(scalar(b)) }

// UnmarshalYAML reads the text of a YAML scalar.
func (s *Size) UnmarshalYAML(b []byte) error { return s.Set(scalar(b)) }

// UnmarshalYAML reads the text of a YAML scalar.
func (d *Duration) UnmarshalYAML(b []byte) error { return d.Set(scalar(b)) }

// MarshalYAML writes the shortest text that reads back as the same value.
func (r Rate) MarshalYAML() ([]byte, error) { return []byte(FormatDecimal(int64(r))), nil }

// MarshalYAML writes the shortest text that reads back as the same value.
func (s Size) MarshalYAML() ([]byte, error) { return []byte(strconv.FormatInt(int64(s), 10)), nil }

// MarshalYAML writes Go's form of a duration.
func (d Duration) MarshalYAML() ([]byte, error) { return []byte(d.String()), nil }

func scalar(b []byte) string {
	return strings.Trim(strings.TrimSpace(string(b)), `"'`)
}

// FormatDecimal is a whole number with the largest decimal multiplier that leaves it whole: "100M".
func FormatDecimal(v int64) string {
	for _, u := range []struct {
		name string
		n    int64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if v >= u.n && v%u.n == 0 {
			return strconv.FormatInt(v/u.n, 10) + u.name
		}
	}
	return strconv.FormatInt(v, 10)
}

var (
	_ json.Marshaler = (*Histogram)(nil)
	_ fmt.Stringer   = Rate(0)
)
