package measure

import (
	"testing"
	"time"
)

func TestValuesOfJSONAreCounted(t *testing.T) {
	for text, want := range map[string][2]int{ // of all levels, and of two
		``: {1, 1}, `1`: {1, 1}, `[]`: {2, 2}, `[1,2,3]`: {4, 4}, `{"a":1,"b":{"c":[{},{}]}}`: {8, 4}, `{"a":",{[\",","b":"\\"}`: {3, 3}, `[[[1,2],[3]]]`: {7, 4},
	} {
		if all, two := JSONValues([]byte(text), 0), JSONValues([]byte(text), 2); all != want[0] || two != want[1] {
			t.Errorf("%s: %d and %d, want %v", text, all, two, want)
		}
	}
}

func TestMoreValuesAreAllowedForLongerTestsOfMoreStreams(t *testing.T) {
	short, long := MostValues(Options{Streams: 1}, time.Second), MostValues(Options{Streams: 1}, time.Hour)
	many := MostValues(Options{Streams: 1024, Interval: Duration(time.Second)}, time.Hour)
	if short > 310_000 || long < 36_000*2*sampleValues || many < 3600*1024*2*sampleValues || MostValues(Options{Streams: 1024}, 1<<62) < many {
		t.Errorf("%d, %d, %d", short, long, many)
	}
}
