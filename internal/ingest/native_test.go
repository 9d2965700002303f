package ingest

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/report"
)

// nativeResult is a document as soku tcp --json prints it.
func nativeResult(t testing.TB, id string, bps float64) string {
	t.Helper()
	o, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(&measure.Result{Schema: measure.Schema, ID: id, Test: measure.TestTCP, Options: o, StartedAt: fileTime,
		Summary: measure.Summary{GoodputBps: bps}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readNative(t *testing.T, text string) ([]*measure.Result, error) {
	t.Helper()
	s, err := NewSource("f", []byte(text), fileTime)
	if err != nil {
		t.Fatal(err)
	}
	return Read(s)
}

func TestResultsOfSokuAreReadFromFiles(t *testing.T) {
	one, two := nativeResult(t, "1", 1e9), nativeResult(t, "2", 2e9)
	stream := `{"event":"interval","interval":{}}` + "\n" + `{"event":"result","result":` + strings.ReplaceAll(one, "\n", "") + "}\n"
	for name, text := range map[string]string{
		"a document": one, "two documents": one + "\n" + two, "a stream": stream, "two streams": stream + stream,
	} {
		results, err := readNative(t, text)
		want := 1 + strings.Count(name, "two")
		if err != nil || len(results) != want || results[0].ID != "1" || results[0].Summary.GoodputBps != 1e9 {
			t.Errorf("%s: %+v %v", name, results, err)
		}
	}
	sample, err := os.ReadFile("testdata/fping-C.txt")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := readNative(t, string(sample)); err != nil || len(results) == 0 || results[0].Origin == nil {
		t.Errorf("another program's output: %v %v", results, err)
	}
}

func TestAFileWithoutAResultIsAnErrorWithItsPlace(t *testing.T) {
	one := nativeResult(t, "1", 1e9)
	for text, want := range map[string]string{
		one + "\n{\"schema\": \"soku.report/1\"}": "no result of soku",
		one[:len(one)/2]: "f:",
		`{"event":"interval","of":"soku.result/1"}`:                                   "f:1: no result of soku",
		`{"event":"result","of":"soku.result/1","result":{"schema":"soku.result/1"}}`: "f:1: no result of soku",
		`{"schema":"soku.result/1","test":5}`:                                         "f:1:",
	} {
		_, err := readNative(t, text)
		if measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzNative: documents that are read can be compared, and mistakes have their place.
func FuzzNative(f *testing.F) {
	one := nativeResult(f, "1", 1e9)
	f.Add([]byte(one))
	f.Add([]byte(`{"event":"interval"} {"event":"result","result":` + one + "}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := NewSource("f", data, fileTime)
		if err != nil {
			fileError(t, err)
			return
		}
		results, err := Read(s)
		if err != nil {
			fileError(t, err)
			return
		}
		a, b := report.NewChoice("a", nil), report.NewChoice("b", nil)
		for _, r := range results {
			a.Add(r)
			other := *r
			other.ID += "'"
			b.Add(&other)
		}
		var e *measure.Error
		if c, err := report.Compare([]*report.Choice{a, b}, report.CompareOptions{}); err == nil {
			if _, err := json.Marshal(c); err != nil {
				t.Fatal(err)
			}
		} else if !errors.As(err, &e) {
			t.Fatal(err)
		}
	})
}
