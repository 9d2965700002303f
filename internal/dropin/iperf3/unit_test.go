package iperf3

import (
	"testing"
	"time"

	"github.com/ncruces/go-strftime"
)

func TestQuantitiesHaveFourCharacters(t *testing.T) {
	for _, c := range []struct {
		bytes  float64
		letter byte
		want   string
	}{
		{0, 'A', "0.00 Byte"}, {384 << 10, 'A', " 384 KByte"}, {92.5 * (1 << 20), 'A', "92.5 MByte"},
		{1.44 * (1 << 30), 'A', "1.44 GByte"}, {1023 << 10, 'A', "1023 KByte"}, {5 << 50, 'A', "5120 TByte"},
		{125_000_000, 'a', "1.00 Gbit"}, {1_177_500_000, 'a', "9.42 Gbit"}, {0, 'a', "0.00 bit"},
		{125_000_000, 'm', "1000 Mbit"}, {125_000_000, 'M', " 119 MByte"}, {125_000_000, 'k', "1000000 Kbit"},
		{9.9949e3, 'A', "9.76 KByte"}, {12.49e6, 'm', "99.9 Mbit"}, {12.499e6, 'm', " 100 Mbit"},
	} {
		if got := quantity(c.bytes, c.letter); got != c.want {
			t.Errorf("%g %c: %q, want %q", c.bytes, c.letter, got, c.want)
		}
	}
}

func TestTimesAreFormattedAsByStrftime(t *testing.T) {
	at := time.Date(2026, 3, 7, 15, 4, 5, 0, time.FixedZone("JST", 9*3600))
	for format, want := range map[string]string{
		"%c ":             "Sat Mar  7 15:04:05 2026 ",
		"%Y-%m-%dT%H:%M":  "2026-03-07T15:04",
		"%s|%j|%u|%w|%%|": "1772863445|066|6|6|%|",
		"%I:%M %p%n%k%l":  "03:04 PM\n15 3",
		"%F %T %z %Z %e":  "2026-03-07 15:04:05 +0900 JST  7",
		"%a %A %b %B %h":  "Sat Saturday Mar March Mar",
		"%D %x %r %R %X":  "03/07/26 03/07/26 03:04:05 PM 15:04 15:04:05",
		"%d.%m.%y%t%S":    "07.03.26\t05",
	} {
		if unknown := unknownConversion(format); unknown != "" {
			t.Errorf("%q: %q is refused", format, unknown)
		}
		if got := strftime.Format(format, at); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
}
