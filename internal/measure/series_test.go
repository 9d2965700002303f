package measure_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	_ "soku/internal/tests"
)

// documents are results of every test, as an earlier version wrote them.
func documents(t *testing.T) map[string]*measure.Result {
	t.Helper()
	files, err := filepath.Glob("../../test/fixtures/*/results/*")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d documents (%v)", len(files), err)
	}
	out := map[string]*measure.Result{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && strings.HasSuffix(file, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(z)
			}
		}
		r := new(measure.Result)
		if err == nil {
			err = json.Unmarshal(b, r)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[file] = r
	}
	return out
}

func TestACopyKeepsItsFiguresWithoutItsSamples(t *testing.T) {
	work := func() *measure.CopyWork { return &measure.CopyWork{ReadNs: 7, Samples: make([]measure.CopySample, 3)} }
	r := &measure.Result{Test: measure.TestCopy, Copy: &measure.Copy{Files: 2, Stages: []measure.CopyStage{{Stage: measure.StageAll, DurationNs: 5, Source: work(), Sink: work()}, {Stage: measure.StageRead, Source: work()}}}}
	short := r.WithoutSeries()
	for i, s := range short.Copy.Stages {
		for _, w := range []*measure.CopyWork{s.Source, s.Sink} {
			if w != nil && (w.Samples != nil || w.ReadNs != 7) {
				t.Errorf("stage %d: %+v", i, w)
			}
		}
	}
	if short.Copy.Files != 2 || short.Copy.Stages[0].DurationNs != 5 || len(r.Copy.Stages[0].Source.Samples) != 3 {
		t.Errorf("%+v of %+v", short.Copy, r.Copy)
	}
}

func TestMetricsAreTheSameWithoutSeries(t *testing.T) {
	tests, figures := map[measure.Test]bool{}, 0
	for file, r := range documents(t) {
		before, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		short := r.WithoutSeries()
		after, err := json.Marshal(short)
		if err != nil {
			t.Fatal(err)
		}
		if len(after) >= len(before) && len(r.Flows) > 0 {
			t.Errorf("%s: %d bytes are %d without series", file, len(before), len(after))
		}
		for _, member := range []string{`"samples":[{`, `"streams":[{`, `"series":[{`, `"rows":[{`} {
			if bytes.Contains(after, []byte(member)) {
				t.Errorf("%s: it still has %s", file, member)
			}
		}
		if again, _ := json.Marshal(r); !bytes.Equal(again, before) {
			t.Errorf("%s was changed", file)
		}
		for _, m := range metric.All() {
			v, found := m.Value(r)
			if w, still := m.Value(short); w != v || still != found {
				t.Errorf("%s: %s is %g (%t), without series %g (%t)", file, m.Key, v, found, w, still)
			}
			if m.Parts != nil {
				p, q, found := m.Parts(r)
				if x, y, still := m.Parts(short); x != p || y != q || still != found {
					t.Errorf("%s: the parts of %s differ", file, m.Key)
				}
			}
			if found {
				figures++
			}
		}
		tests[r.Test] = true
	}
	if len(tests) < 7 || figures < 300 {
		t.Errorf("compared %d figures of %d tests", figures, len(tests))
	}
}
