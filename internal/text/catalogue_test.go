package text

import (
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestAMessageWritesFiguresWithTheirUnits(t *testing.T) {
	c := English()
	for source, want := range map[string]string{
		`{{rate .V}}`:       "2.000 kbit/s",
		`{{bytes .V}}`:      "2.000 kB",
		`{{latency .V}}`:    "2.000 µs",
		`{{whole .V}}`:      "2000",
		`{{digits 2 .V}}`:   "2000",
		`{{decimals 1 .V}}`: "2000.0",
		`{{percent .V}}`:    "200000 %",
	} {
		parsed, err := c.language().Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		value := int64(2000)
		for _, v := range []any{2000, value, &value, 2000.0, uint8(200), measure.Size(2000)} {
			var got strings.Builder
			if err := parsed.Execute(&got, map[string]any{"V": v}); err != nil {
				t.Errorf("%s of %T: %v", source, v, err)
			}
			if _, small := v.(uint8); !small && got.String() != want {
				t.Errorf("%s of %T is %q, want %q", source, v, got.String(), want)
			}
		}
	}
}

func TestTheCatalogueChoosesThePlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 hops", 1: "1 hop", 2: "2 hops"} {
		if got := English().Sentence("count.hop", Args{"N": n}); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A person must see something where the program has a defect, and never an empty line.
func TestADefectShowsTheKeyAndTheFigures(t *testing.T) {
	for _, key := range []string{"no.such.message", "count.hop"} {
		got := English().Sentence(key, Args{"Rate": 7})
		if !strings.Contains(got, key) || !strings.Contains(got, "7") {
			t.Errorf("%s: %q", key, got)
		}
	}
	if English().Has("no.such.message") || !English().Has("count.hop") {
		t.Error("Has does not know the messages")
	}
}
