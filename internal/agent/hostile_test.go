package agent

import (
	"encoding/json"
	"reflect"
	"testing"

	"soku/internal/measure"
	"soku/test/hostile"
)

// A remote endpoint's result is as strange to the campaign as a server's.
func TestEveryTextOfAChildIsPrintable(t *testing.T) {
	sent := report{}
	hostile.Fill(&sent, hostile.Text, reflect.TypeFor[measure.Histogram]())
	sent.Result.Schema = measure.Schema
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var progress measure.Progress
	r := reportReader{hooks: Hooks{Progress: func(p measure.Progress) { progress = p }}, done: func() {}, barrier: newBarrier(t.Context(), nil, nil, nil, measure.Endpoint{})}
	r.line(text)
	if r.result == nil {
		t.Fatal(json.Unmarshal(text, new(report)))
	}
	hostile.CleanMessage(t, "result", r.result)
	hostile.CleanMessage(t, "progress", progress)
}
