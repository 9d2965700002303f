package printable_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"soku/internal/printable"
)

// hostile has each kind of what must not reach a terminal.
const hostile = "a\x1b[31mb\u009b1mc\x9bd\x7fe\u202ef\u2066g\x00h\ri"

func TestALineHasNoControlCharacterAndNoEnd(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", "日本 µs – ok": "日本 µs – ok", "no\u00a0break": "no\u00a0break",
		hostile:                             "a�[31mb�1mc�d�e�f�g�h i",
		"soku: forged\nsoku: line\r\n\tend": "soku: forged soku: line   end",
		"a\u0085b\u2028c\u2029d\ve\ff":      "a b c d e f",
		"\xff\xfe":                          "��",
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestATextKeepsItsLines(t *testing.T) {
	if got := printable.Text("a\tb\r\nc\x1b[2Jd\re\n"); got != "a\tb\nc�[2Jd�e\n" {
		t.Errorf("%q", got)
	}
}

func TestALongTextIsCutAtACharacter(t *testing.T) {
	for text, want := range map[string]string{"abcd": "abcd", "abcde": "abc…", "日本日本": "日本日本", "日本日本日": "日本日…"} {
		if got := printable.Cut(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

type name string

type message struct {
	Text  string
	Name  name
	List  []string
	Deep  *message
	Map   map[string]any
	Names map[name][]name
	Raw   json.RawMessage
	Bytes []byte
	Count int
	Any   any
	Fixed [2]string
}

func TestEveryTextOfAMessageIsCleaned(t *testing.T) {
	const bad, good = "a\x1bb\n", "a�b "
	m := message{
		Text: bad, Name: bad, List: []string{bad, strings.Repeat("x", 20)}, Deep: &message{Any: []any{bad, map[string]any{bad: bad}}},
		Map: map[string]any{bad: bad, "list": []string{bad}, "n": 1.5, "none": nil}, Names: map[name][]name{bad: {bad}},
		Raw: json.RawMessage(bad), Bytes: []byte(bad), Count: 7, Fixed: [2]string{"", bad},
	}
	printable.Strings(&m, 10)
	want := message{
		Text: good, Name: good, List: []string{good, "xxxxxxxxx…"}, Deep: &message{Any: []any{good, map[string]any{good: good}}},
		Map: map[string]any{good: good, "list": []string{good}, "n": 1.5, "none": nil}, Names: map[name][]name{good: {good}},
		Raw: json.RawMessage(bad), Bytes: []byte(bad), Count: 7, Fixed: [2]string{"", good},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v\nwant %+v", m, want)
	}
}

func TestAWriterLetsNoControlCharacterThrough(t *testing.T) {
	for chunk := range 7 {
		var out bytes.Buffer
		in := io.Reader(strings.NewReader(hostile + "日本\n\x1b"))
		if chunk == 0 {
			in = iotest.OneByteReader(in)
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{printable.NewWriter(&out)}, struct{ io.Reader }{in}, make([]byte, max(chunk, 1))); err != nil {
			t.Fatal(err)
		}
		if want := "a�[31mb�1mc�d�e�f�g�h�i日本\n�"; out.String() != want {
			t.Errorf("%d bytes at a time: %q, want %q", chunk, &out, want)
		}
	}
}

func TestTheProgramsOwnSequencesPass(t *testing.T) {
	var out bytes.Buffer
	printable.Draw(printable.NewWriter(&out), printable.Sequence("\r"), "a\x1bb", printable.Sequence("\x1b[K"))
	if out.String() != "\ra�b\x1b[K" {
		t.Errorf("%q", &out)
	}
}

func TestJSONKeepsItsValues(t *testing.T) {
	in := map[string]string{"a": hostile, "b\u009b": "日本\u202e"}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := printable.JSON(text)
	for _, r := range string(out) {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Errorf("%q has %q", out, r)
		}
	}
	var before, after any
	if json.Unmarshal(text, &before) != nil || json.Unmarshal(out, &after) != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%q became %q", text, out)
	}
}

func FuzzLine(f *testing.F) {
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, s string) {
		line := printable.Line(s)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) || printable.Line(line) != line {
			t.Fatalf("%q became %q", s, line)
		}
		if cut := printable.Cut(line, 10); utf8.RuneCountInString(cut) > 10 || !utf8.ValidString(cut) {
			t.Fatalf("%q was cut to %q", line, cut)
		}
		if text := printable.Text(s); printable.Text(text) != text {
			t.Fatalf("%q became %q", s, text)
		}
	})
}
