package measure

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestAnOutlineIsADocumentWithoutItsLargeMembers(t *testing.T) {
	h := NewHistogram()
	h.Record(48_000)
	loss := 0.01
	r := &Result{
		Schema: Schema, ID: "a", Test: TestTCP, Trial: &Trial{Campaign: "c", Levels: []Level{{"sku", "ultra"}}}, Summary: Summary{GoodputBps: 1e9, LossRatio: &loss},
		Flows: []Flow{{Direction: Forward, Samples: []Sample{{ReceivedBytes: 9}}}}, Latency: &Latency{Histogram: h}, UnderLoad: &UnderLoad{During: &Latency{Histogram: h}},
		Connect: &Connect{Opened: 3}, Trace: &Trace{Hops: []TraceHop{{Hop: 1}}}, PathMTU: &PathMTU{Bytes: 1500}, Error: TextError(KindBroken, "peer gone", ""),
	}
	whole, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var outline Result
	if err := UnmarshalOutline(whole, &outline); err != nil {
		t.Fatal(err)
	}
	r.Flows, r.Latency, r.UnderLoad = nil, nil, nil
	want, _ := json.Marshal(r)
	if got, err := json.Marshal(&outline); err != nil || string(got) != string(want) {
		t.Errorf("the outline is\n%s (%v), want\n%s", got, err, want)
	}
}

func TestAnOutlineHasTheFindingsOfItsDocument(t *testing.T) {
	files, err := filepath.Glob("../../test/fixtures/3f5254c/results/*.json")
	if err != nil {
		t.Fatal(err)
	}
	findings, missing := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var whole, outline Result
		if err := errors.Join(json.Unmarshal(text, &whole), UnmarshalOutline(text, &outline)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(whole.Findings, outline.Findings) || !reflect.DeepEqual(whole.Origin, outline.Origin) {
			t.Errorf("%s: the outline has %v and %+v, the whole %v and %+v", file, outline.Findings, outline.Origin, whole.Findings, whole.Origin)
		}
		findings += len(whole.Findings)
		if whole.Origin != nil {
			missing += len(whole.Origin.Missing)
		}
	}
	if findings < 5 || missing < 5 {
		t.Errorf("%d findings and %d missing in %d documents", findings, missing, len(files))
	}
}

func TestAnOutlineOfAnInvalidDocumentFails(t *testing.T) {
	for _, text := range []string{``, `{`, `[]`, `{"schema":"soku.result/1","id":1}`} {
		if err := UnmarshalOutline([]byte(text), new(Result)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if err := UnmarshalOutline([]byte(`{"schema":"soku.result/2"}`), new(Result)); KindOf(err) != KindFile || !strings.Contains(err.Error(), "soku.result/2") {
		t.Errorf("another schema: %v", err)
	}
}

// Documents whose members are all known are read in one pass; it must not differ
// from the other, which keeps unknown members.
func TestReadingDoesNotDependOnUnknownMembers(t *testing.T) {
	text, err := os.ReadFile("../../test/fixtures/3f5254c/results/tcp-bidirectional.json")
	if err != nil {
		t.Fatal(err)
	}
	var known, other Result
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(string(text), "{", `{"later": {"a": 1}, `, 1)), &other); err != nil {
		t.Fatal(err)
	}
	if known.unknown != nil || other.unknown == nil {
		t.Fatalf("unknown members are %v and %v", known.unknown, other.unknown)
	}
	other.unknown = nil
	a, _ := json.Marshal(&known)
	if b, _ := json.Marshal(&other); string(a) != string(b) {
		t.Errorf("read as\n%s and\n%s", a, b)
	}
}
