package iperf3

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"soku/test/hostile"
)

func TestEveryTextOfTheOtherEndIsPrintable(t *testing.T) {
	p := Parameters{}
	hostile.Fill(&p, hostile.Text)
	p.Protocol, p.Bidirectional = "tcp", false
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got := Parameters{}
	if err := got.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	hostile.CleanMessage(t, "parameters", got)

	r := Results{Streams: []StreamResult{{ID: 1}}}
	hostile.Fill(&r, hostile.Text)
	r.ServerOutputJSON = json.RawMessage("{\"a\":\"\u009b31m\u202e\",\r\n\"b\u007f\":1}")
	if text, err = r.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	results := Results{}
	if err := results.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	hostile.Clean(t, "the server's document", string(results.ServerOutputJSON))
	results.ServerOutputText = lines(t, results.ServerOutputText)
	hostile.CleanMessage(t, "results", results)
}

// lines checks the server's output, which has lines of its own.
func lines(t *testing.T, output string) string {
	t.Helper()
	if output == "" {
		t.Error("the server's output is lost")
	}
	for line := range strings.SplitSeq(output, "\n") {
		hostile.CleanMessage(t, "line of the server", line)
	}
	return "checked"
}

func TestResultsWithManyValuesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"streams": `{"streams":[` + strings.Repeat("{},", 5_000_000) + `{}]}`, "members": `{` + strings.Repeat(`"a":1,`, 2_000_000) + `"b":1}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := new(Results).UnmarshalJSON([]byte(text))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; err == nil || grown > 30<<20 {
			t.Errorf("%s: %v, %d MiB were allocated", name, err, grown>>20)
		}
	}
}
