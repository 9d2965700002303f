package measure

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"soku/internal/measure/finding"
)

func TestAFindingKeepsItsFiguresThroughJSON(t *testing.T) {
	size := Size(7)
	f := NewFinding(finding.ReceiverDisagrees, Where(Forward), Figures{
		"sent_bytes": int64(30_000_000), "received_bytes": &size, "text": TestTCP, "ratio": 0.5, "none": (*Size)(nil), "nan": math.NaN(), "list": []int{1},
	})
	const want = `{"code":"receiver_disagrees","severity":"warning","where":"forward","figures":{"ratio":0.5,"received_bytes":7,"sent_bytes":30000000,"text":"tcp"}}`
	b, err := json.Marshal(f)
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	var again Finding
	if err := json.Unmarshal(b, &again); err != nil || !again.Equal(f) {
		t.Errorf("%+v is read as %+v, %v", f, again, err)
	}
	if sent, ok := again.Number("sent_bytes"); sent != 3e7 || !ok || again.Text("text") != "tcp" || again.Text("ratio") != "" {
		t.Errorf("figures %v", again.Figures)
	}
}

// A later version may have figures of other kinds, and documents are untrusted input.
func TestFiguresOfOtherKindsAreLeftOut(t *testing.T) {
	var f Finding
	if err := json.Unmarshal([]byte(`{"code":"x","figures":{"a":1,"b":[1],"c":{"d":1},"e":null,"f":true,"g":"text"}}`), &f); err != nil {
		t.Fatal(err)
	}
	if !f.Equal(Finding{Code: "x", Figures: Figures{"a": 1.0, "g": "text"}}) {
		t.Errorf("%+v", f)
	}
	if json.Unmarshal([]byte(`{"code":"x","figures":[1]}`), &f) == nil {
		t.Error("a list of figures is read")
	}
}

func TestEqualFindingsAreAddedOnce(t *testing.T) {
	var fs Findings
	for range 2 {
		fs.AddOnce(NewFinding(finding.RTTDoubled, "", Figures{"tool": "sockperf"}))
		fs.AddOnce(NewFinding(finding.RTTDoubled, "", Figures{"tool": "other"}))
	}
	if len(fs) != 2 || len(fs.With(finding.RTTDoubled)) != 2 || len(fs.With(finding.Text)) != 0 {
		t.Errorf("%+v", fs)
	}
}

func TestSentencesOfEarlierVersionsAreFindings(t *testing.T) {
	const document = `{"schema":"soku.result/1","warnings":["near the floor","the clock stepped"],"later":1}`
	var r Result
	mustUnmarshal(t, []byte(document), &r)
	want := Findings{TextFinding("near the floor"), TextFinding("the clock stepped")}
	if len(r.Findings) != 2 || !r.Findings[0].Equal(want[0]) || !r.Findings[1].Equal(want[1]) {
		t.Errorf("%+v", r.Findings)
	}
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	mustUnmarshal(t, b, &members)
	if members["warnings"] != nil || members["later"] == nil || members["findings"] == nil {
		t.Errorf("written as %s", b)
	}
	var again Result
	mustUnmarshal(t, b, &again)
	if len(again.Findings) != 2 || !again.Findings[1].Equal(want[1]) {
		t.Errorf("read again as %+v", again.Findings)
	}
}

func TestPhrasesOfEarlierVersionsAreCodes(t *testing.T) {
	const document = `{"schema":"soku.result/1","origin":{"file":"f","lacks":["no loss","the weather","no loss"],"later":1}}`
	var r Result
	mustUnmarshal(t, []byte(document), &r)
	if m := r.Origin.Missing; len(m) != 2 || m[0].Code != finding.NoLoss || m[1].Text("text") != "the weather" || m[1].Severity != finding.Note {
		t.Errorf("%+v", m)
	}
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); strings.Contains(text, "lacks") || !strings.Contains(text, `"later":1`) {
		t.Errorf("written as %s", b)
	}
	for phrase, code := range phrases {
		if _, known := finding.Describe(code); !known {
			t.Errorf("%q stands for %s, which is not described", phrase, code)
		}
	}
	if m := OfPhrases([]string{"no_loss", "text"}); m[0].Code != finding.NoLoss || m[1].Text("text") != "text" {
		t.Errorf("%+v", m)
	}
}
