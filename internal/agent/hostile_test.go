package agent

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
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
	r := newReportReader(maxReport)
	r.hooks.Progress = func(p measure.Progress) { progress = p }
	if _, err := r.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	if r.result == nil {
		t.Fatal(json.Unmarshal(text, new(report)))
	}
	hostile.CleanMessage(t, "result", r.result)
	hostile.CleanMessage(t, "progress", progress)
}

func TestAReportHasNoMoreValuesThanItsTrial(t *testing.T) {
	r := newReportReader(maxReport)
	line := `{"result":{"flows":[{"streams":[` + strings.Repeat("{},", 4<<20) + "{}]}]}}\n"
	if _, err := r.Write([]byte(line)); !errors.Is(err, errTooMany) {
		t.Errorf("%v", err)
	}
}
