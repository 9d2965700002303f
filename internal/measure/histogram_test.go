package measure

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read is h as a document gives it: its counts are packed.
func read(t *testing.T, h *Histogram) *Histogram {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out := new(Histogram)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	if out.packed == nil {
		t.Fatal("the counts are not packed")
	}
	return out
}

func random(n int, seed uint64) *Histogram {
	r, h := rand.New(rand.NewPCG(seed, 1)), NewHistogram()
	for range n {
		h.Record(int64(r.ExpFloat64() * 50_000))
	}
	return h
}

func wantAlike(t *testing.T, a, b *Histogram) {
	t.Helper()
	if a.Count() != b.Count() || a.Min() != b.Min() || a.Max() != b.Max() || a.Mean() != b.Mean() || a.Clipped() != b.Clipped() {
		t.Errorf("%d values, %d to %d, mean %g, %d clipped; want %d, %d to %d, %g, %d",
			a.Count(), a.Min(), a.Max(), a.Mean(), a.Clipped(), b.Count(), b.Min(), b.Max(), b.Mean(), b.Clipped())
	}
	for p := 0.0; p <= 100; p += 0.05 {
		if a.Percentile(p) != b.Percentile(p) {
			t.Fatalf("percentile %g is %d and %d", p, a.Percentile(p), b.Percentile(p))
		}
	}
	if *a.Percentiles() != *b.Percentiles() || !slices.Equal(a.Buckets(), b.Buckets()) || RPM(a) != RPM(b) {
		t.Error("percentiles, buckets or RPM differ")
	}
	x, _ := json.Marshal(a)
	if y, err := json.Marshal(b); err != nil || string(x) != string(y) {
		t.Errorf("written as %s and %s (%v)", x, y, err)
	}
}

func TestAHistogramThatWasReadAnswersAsTheOneThatWasWritten(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 100_000} {
		h := random(n, uint64(n))
		h.Record(HistogramMin)
		h.Record(HistogramMax + 1)
		wantAlike(t, read(t, h), h)
	}
	wantAlike(t, read(t, NewHistogram()), NewHistogram())
}

func TestHistogramsMergeWhateverTheirForm(t *testing.T) {
	a, b := random(5000, 1), random(300, 2)
	want := NewHistogram()
	want.Merge(a)
	want.Merge(b)
	for _, into := range []func() *Histogram{NewHistogram, func() *Histogram { return read(t, NewHistogram()) }} {
		for _, other := range []*Histogram{b, read(t, b)} {
			h := into()
			h.Merge(read(t, a))
			h.Merge(other)
			h.Merge(nil)
			h.Merge(new(Histogram))
			wantAlike(t, h, want)
		}
	}
}

func TestAHistogramContinuesRecordingAfterReading(t *testing.T) {
	h, want := read(t, random(500, 3)), random(500, 3)
	for _, v := range []int64{5, 5, 70_000, 1e9} {
		h.Record(v)
		want.Record(v)
	}
	wantAlike(t, h, want)
	h = read(t, want)
	h.Reset()
	h.Record(7)
	if h.Count() != 1 || h.Max() != 7 {
		t.Errorf("after Reset it has %d values up to %d", h.Count(), h.Max())
	}
}

func TestADamagedHistogramIsRefusedWithTheReason(t *testing.T) {
	h := NewHistogram()
	h.Record(1000)
	whole, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	data := regexp.MustCompile(`"data":"[^"]*"`)
	for name, c := range map[string]struct{ text, code string }{
		"another encoding": {strings.Replace(string(whole), histogramEncoding, "hdr-v9", 1), "document.histogram.encoding"},
		"no base64":        {data.ReplaceAllString(string(whole), `"data":"!"`), "document.histogram.damaged"},
		"no zlib":          {data.ReplaceAllString(string(whole), `"data":"HISTFAAAAAgAAAAAAAAAAA=="`), "document.histogram.damaged_by"},
		"a number":         {`7`, "document.histogram.syntax"},
		"too long":         {`"` + strings.Repeat("x", maxEncodedHistogram) + `"`, "document.histogram.size"},
	} {
		var e *Error
		if err := json.Unmarshal([]byte(c.text), NewHistogram()); !errors.As(err, &e) || e.Code != c.code || e.Kind != KindFile {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of five round trips the 99.9th percentile is the largest one.
func TestAPercentileNeedsTenValuesBeyond(t *testing.T) {
	names := []string{"p90", "p95", "p99", "p99_9", "p99_99"}
	for _, c := range []struct{ count, supported int }{
		{5, 0}, {99, 0}, {100, 1}, {199, 1}, {200, 2}, {999, 2}, {1000, 3}, {9_999, 3}, {10_000, 4}, {99_999, 4}, {100_000, 5},
	} {
		b, err := json.Marshal(random(c.count, 1).Percentiles())
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]float64{}
		if err := json.Unmarshal(b, &members); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			if v, there := members[name]; there != (i < c.supported) || there && v <= 0 {
				t.Errorf("of %d values %s is %v (there: %v)", c.count, name, v, there)
			}
		}
		for _, name := range []string{"min", "mean", "p50", "max", "count"} {
			if _, there := members[name]; !there {
				t.Errorf("of %d values there is no %s", c.count, name)
			}
		}
	}
}

func TestPercentilesOfOldDocumentsAreNotShownWithoutTheirCount(t *testing.T) {
	old := Percentiles{Min: 1, P50: 2, P90: 3, P95: 3, P99: 4, P999: 4, P9999: 4, Max: 4, Count: 250}
	if got := old.Supported(); got.P50 != 2 || got.P90 != 3 || got.P95 != 3 || got.P99 != 0 || got.P999 != 0 || got.P9999 != 0 || got.Max != 4 {
		t.Errorf("%+v", got)
	}
}
