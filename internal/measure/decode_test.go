package measure

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestStoredDocumentsAreDecodedAsByEncodingJSON(t *testing.T) {
	for _, document := range []string{
		`{"schema":"soku.result/1","id":"a","test":"tcp","summary":{"goodput_bps":1e9,"duration_ns":10}}`,
		`{"SCHEMA":"soku.result/1","Id":"a","TEST":"udp"}`,
		`{"id":"a","id":"b","path":{"client":{"name":"x"}},"path":{"server":{"name":"y"}}}`,
		`{"id":null,"flows":null,"summary":null,"hosts":{"client":null}}`,
		"{\"id\":\"\xff\",\"test\":\"\\ud800\"}",
		`{"flows":[{"streams":[{},null]},{}],"findings":[{"code":"a","figures":{"x":1,"y":["z"]}}]}`,
		`{"started_at":"2026-01-02T03:04:05.5+09:00","unknown":{"a":[1,{"b":null}]}}`,
		`{"options":{"streams":4,"duration_ns":1000000000}}`,
		`{"id":1}`, `{"flows":{}}`, `{"id":"a"`, `[]`, `null`, `{"id":"a"} x`, ``,
	} {
		var got, want knownResult
		gotErr, wantErr := decode([]byte(document), &got), json.Unmarshal([]byte(document), &want)
		if (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%q: %v, want %v", document, gotErr, wantErr)
		}
		if wantErr == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%+v, want\n%+v", document, got, want)
		}
	}
}
