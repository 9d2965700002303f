package measure

import (
	"testing"
	"time"

	"soku/internal/text/messages"
)

func TestRatesReadTheFormsPeopleWrite(t *testing.T) {
	for text, want := range map[string]Rate{
		"0": 0, "1": 1, "50M": 50e6, "50m": 50e6, "1.5G": 1.5e9, "800kbit/s": 800e3, "941.5 Mbit/s": 941.5e6,
		"10Gbps": 10e9, "2Ki": 2048, "100 Mb/s": 100e6,
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestSizesReadTheFormsPeopleWrite(t *testing.T) {
	for text, want := range map[string]Size{
		"1448": 1448, "128Ki": 128 << 10, "128KiB": 128 << 10, "10MB": 10e6, "1 GiB": 1 << 30, "64 bytes": 64,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestDurationsReadTheFormsPeopleWrite(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "10": 10 * time.Second, "0.5": 500 * time.Millisecond, "2m30s": 150 * time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got.Std() != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestPercentagesAreRatiosFromAbove0To1(t *testing.T) {
	for text, want := range map[string]Percent{"3%": 0.03, "0.5 %": 0.005, "100%": 1} {
		if got, err := ParsePercent(text); err != nil || got != want {
			t.Errorf("ParsePercent(%q) = %v, %v; want %v", text, got, err, want)
		}
		if again, err := ParsePercent(want.String()); err != nil || again != want {
			t.Errorf("%v is written %q, which reads as %v, %v", want, want, again, err)
		}
	}
}

func TestWrongUnitsAreUsageErrorsThatShowARightOne(t *testing.T) {
	for _, err := range []error{
		second(ParseRate("50X")), second(ParseRate("")), second(ParseRate("-5M")), second(ParseRate("nan")), second(ParseRate("1e9999")), second(ParseRate("0x10")),
		second(ParseSize("ten")), second(ParseSize("9999999999T")), second(ParseDuration("10 parsecs")), second(ParseDuration("-1s")), second(ParseDuration("Inf")),
		second(ParsePercent("3")), second(ParsePercent("0%")), second(ParsePercent("101%")), second(ParsePercent("NaN%")), second(ParsePercent("%")),
	} {
		if err == nil || KindOf(err) != KindUsage || AsError(err, "").Hint == "" {
			t.Errorf("got %v, want a usage error with a hint", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestFiguresAreWrittenWithFourDigits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{messages.FormatRate(941_482_000), "941.5 Mbit/s"}, {messages.FormatRate(9_999_960_000), "10.00 Gbit/s"}, {messages.FormatRate(12), "12.00 bit/s"},
		{messages.FormatBytes(999), "999 B"}, {messages.FormatBytes(1.25e9), "1.250 GB"},
		{messages.FormatLatency(850), "850 ns"}, {messages.FormatLatency(48_214), "48.21 µs"}, {messages.FormatLatency(2.5e6), "2.500 ms"}, {messages.FormatLatency(6e10), "60.00 s"},
		{Size(128 << 10).String(), "128 KiB"}, {Size(1448).String(), "1.448 kB"}, {Size(10_240_000).String(), "10000 KiB"},
		{Size(9_760_000_000).String(), "9.760 GB"}, {Size(10e9).String(), "10.00 GB"}, {Size(1025 << 20).String(), "1025 MiB"}, {Rate(50e6).String(), "50.00 Mbit/s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func FuzzUnits(f *testing.F) {
	for _, s := range []string{"50M", "1.5Gbit/s", "128Ki", "10s", "", "-", "1e308", "..", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil && r < 0 {
			t.Errorf("rate %q is negative: %d", s, r)
		}
		if n, err := ParseSize(s); err == nil && n < 0 {
			t.Errorf("size %q is negative: %d", s, n)
		}
		if d, err := ParseDuration(s); err == nil && d < 0 {
			t.Errorf("duration %q is negative: %d", s, d)
		}
	})
}
