package measure

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

var someCuts = cuts{"a": nil, "b": {"c": nil, "d": {"e": nil}}}

// leaveOut is what cut does, done to the decoded document.
func (c cuts) leaveOut(v any) {
	if list, is := v.([]any); is {
		for _, element := range list {
			if _, is := element.(map[string]any); is {
				c.leaveOut(element)
			}
		}
	}
	object, is := v.(map[string]any)
	if !is {
		return
	}
	for key, inner := range c {
		member, found := object[key]
		switch {
		case !found:
		case inner == nil:
			object[key] = nil
		default:
			inner.leaveOut(member)
		}
	}
}

var cutDocuments = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":"}","x":2}`, `{"x":"\"a\":{","a":[{"]":"\\"}],"y":[]}`, `{"b":{"c":[1,2],"d":{"e":{},"f":null}},"c":3}`,
	"{\n \"b\" : { \"d\" : { \"e\" : -1.5e3 } } ,\t\"a\" : true }", `{"b":[{"c":1}],"a":{"a":{"a":"\\\\"}}}`, `{"b":{}}`, `{"b":null,"a":null}`, `{"\u0061":1}`,
	`{"schema":"soku.result/1","latency":{"rows":[{"rtt_ns":[1,2]}],"sent":3}}`,
	`{"b":[]}`, `{"b":[ ]}`, `{"b":[{},{"c":1,"k":[2]} , 3,[{"c":4}],"]",{"d":[{"e":"]","f":1}]}],"k":1}`,
	`{"b":[1,]}`, `{"b":[{"c":1]}`, `{"b":[{"c":1}}`, `{"b":[`, `{"b":[{"c":1}`, `{"b":[1 2]}`,
	`[]`, `null`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":[`, `{"a":"`, `{"a":1,`, `{,}`, `{"a":1 "b":2}`, `{1:2}`, `{"b":{"c":[}}`, ``, `{"a":}`,
}

// A document that is JSON loses only what is cut; one that is not is still refused.
func checkCut(t *testing.T, document string) {
	t.Helper()
	var want, got any
	before := document
	err := json.Unmarshal([]byte(document), &want)
	text := []byte(document)
	out := someCuts.cut(nil, text)
	if string(text) != before {
		t.Errorf("%q was changed", before)
	}
	if err != nil {
		return
	}
	someCuts.leaveOut(want)
	err = json.Unmarshal(out, &got)
	someCuts.leaveOut(got) // a key that is written with escapes is not found, and is read
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s was cut to %s (%v), want %v", document, out, err, want)
	}
}

func TestMembersAreCut(t *testing.T) {
	for _, document := range cutDocuments {
		checkCut(t, document)
	}
	if got := string(someCuts.cut(nil, []byte(`{"a":[1,{"x":"]"}],"b":{"c":2,"k":3}}`))); got != `{"a":null,"b":{"c":null,"k":3}}` {
		t.Errorf("cut to %s", got)
	}
	if got := string(someCuts.cut(nil, []byte(`{"b":[{"c":[1,2],"k":3},4]}`))); got != `{"b":[{"c":null,"k":3},4]}` {
		t.Errorf("cut to %s", got)
	}
}

func TestATextThatIsCutOffIsStillRefused(t *testing.T) {
	whole := `{"schema":"soku.result/1","id":"x","flows":[{"samples":[{"received_bytes":1}]}],"test":"tcp"}`
	if err := UnmarshalOutline([]byte(whole), new(Result)); err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) {
		if err := UnmarshalOutline([]byte(whole[:i]), new(Result)); err == nil {
			t.Errorf("%s is taken for whole", whole[:i])
		}
	}
}

func TestADocumentWithoutRowsHasAllElse(t *testing.T) {
	files, err := filepath.Glob("../../test/fixtures/*/results/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	rows := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var whole, short Result
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		if err := UnmarshalWithoutRows(text, &short); err != nil {
			t.Fatal(err)
		}
		all := []*Latency{whole.Latency}
		if u := whole.UnderLoad; u != nil {
			all = append(all, u.Before, u.During, u.After)
		}
		for _, l := range all {
			if l != nil {
				rows += len(l.Rows)
				l.Rows, l.Application = nil, nil
			}
		}
		for _, h := range []*Host{whole.Hosts.Client, whole.Hosts.Server} {
			if h != nil {
				h.Series = nil
			}
		}
		whole.unknown = nil
		want, err := json.Marshal(&whole)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(&short); err != nil || string(got) != string(want) {
			t.Errorf("%s without rows is (%v)\n%.500s\nwant\n%.500s", file, err, got, want)
		}
	}
	if rows == 0 {
		t.Error("no document has rows")
	}
}

func FuzzMembersAreCut(f *testing.F) {
	for _, document := range cutDocuments {
		f.Add(document)
	}
	f.Fuzz(checkCut)
}
