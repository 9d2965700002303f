package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestASeriesSurvivesWritingAndReading(t *testing.T) {
	want := SeriesValues{AtNs: []int64{0, 100, 201}, Columns: map[string][]int64{"cpu0.user_ns": {5, -1}, "forward.0.rtt_ns": {0, 1 << 62}}}
	text, err := json.Marshal(NewSeries(want))
	if err != nil {
		t.Fatal(err)
	}
	var read Series
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if got, err := read.Values(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := json.Marshal(&read); err != nil || string(again) != string(text) {
		t.Errorf("written again: %s (%v), want %s", again, err, text)
	}
	if none, err := (*Series)(nil).Values(); err != nil || none.AtNs != nil || none.Columns != nil {
		t.Errorf("no series: %+v, %v", none, err)
	}
}

func TestASeriesOfALaterVersionIsKept(t *testing.T) {
	text := `{"at_ns":[0,5],"later":{"at_ns":[7]},"columns":{"new.thing_ns":[1]}}`
	var read Series
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	if v, err := read.Values(); err != nil || v.AtNs[1] != 5 || v.Columns["new.thing_ns"][0] != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if again, _ := json.Marshal(&read); string(again) != text {
		t.Errorf("written again: %s", again)
	}
}

// A document with an invalid series is read; only its Values report the error.
func TestAnInvalidSeriesCostsOnlyItself(t *testing.T) {
	columns := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"k%d":[1]`, i))
		}
		return `{"at_ns":[0,1],"columns":{` + strings.Join(all, ",") + `}}`
	}
	many := func(n int) string { return "[0" + strings.Repeat(",1", n-1) + "]" }
	for name, series := range map[string]string{
		"no object":           `[1]`,
		"a number":            `7`,
		"no moments":          `{"columns":{}}`,
		"no first moment":     `{"at_ns":[],"columns":{}}`,
		"another start":       `{"at_ns":[1,2],"columns":{}}`,
		"backwards":           `{"at_ns":[0,5,4],"columns":{}}`,
		"a short column":      `{"at_ns":[0,1,2],"columns":{"a":[1]}}`,
		"a long column":       `{"at_ns":[0,1],"columns":{"a":[1,2]}}`,
		"fractions":           `{"at_ns":[0,1],"columns":{"a":[1.5]}}`,
		"text":                `{"at_ns":[0,1],"columns":{"a":["1"]}}`,
		"nested":              `{"at_ns":[0,1],"columns":{"a":[[1]]}}`,
		"too large a number":  `{"at_ns":[0,1],"columns":{"a":[9223372036854775808]}}`,
		"a column of nothing": `{"at_ns":[0,1],"columns":{"a":null}}`,
		"an empty key":        `{"at_ns":[0,1],"columns":{"":[1]}}`,
		"an escape":           `{"at_ns":[0,1],"columns":{"\u0041":[1]}}`,
		"a control character": "{\"at_ns\":[0,1],\"columns\":{\"a\x7f\":[1]}}",
		"a long key":          `{"at_ns":[0,1],"columns":{"` + strings.Repeat("k", SeriesKeyLength+1) + `":[1]}}`,
		"too many columns":    columns(SeriesColumns + 1),
		"too many moments":    `{"at_ns":` + many(SeriesReadings+1) + `,"columns":{}}`,
		"too long":            `{"at_ns":[0],"columns":{}` + strings.Repeat(" ", SeriesLength) + `}`,
	} {
		var r Result
		document := `{"schema":"soku.result/1","id":"x","hosts":{"server":{"facts":{"os":"linux","arch":"arm64"},"series":` + series + `}}}`
		if err := json.Unmarshal([]byte(document), &r); err != nil || r.ID != "x" {
			t.Errorf("%s: the document: %v", name, err)
			continue
		}
		if v, err := r.Hosts.Server.Series.Values(); !errors.Is(err, ErrSeries) || v.AtNs != nil || v.Columns != nil {
			t.Errorf("%s: %d moments, %d columns, %v", name, len(v.AtNs), len(v.Columns), err)
		}
	}
	for name, series := range map[string]string{"most columns": columns(SeriesColumns), "most moments": `{"at_ns":` + many(SeriesReadings) + `,"columns":{}}`} {
		if _, err := (&Series{raw: []byte(series)}).Values(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoeverHoldsManyResultsHoldsNoSeries(t *testing.T) {
	with := func() *Host { return &Host{Series: NewSeries(SeriesValues{AtNs: []int64{0}})} }
	r := &Result{Schema: Schema, ID: "x", Hosts: Hosts{Client: with(), Server: with()}}
	short := r.WithoutSeries()
	if short.Hosts.Client.Series != nil || short.Hosts.Server.Series != nil {
		t.Error("it is kept")
	}
	if r.Hosts.Client.Series == nil || r.Hosts.Server.Series == nil {
		t.Error("the result itself lost it")
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func([]byte, *Result) error{"outline": UnmarshalOutline, "without rows": UnmarshalWithoutRows} {
		var got Result
		if err := read(text, &got); err != nil || got.Hosts.Client == nil || got.Hosts.Client.Series != nil || got.Hosts.Server.Series != nil {
			t.Errorf("%s: %+v, %v", name, got.Hosts, err)
		}
	}
}

func FuzzSeries(f *testing.F) {
	f.Add([]byte(`{"at_ns":[0,100],"columns":{"cpu0.user_ns":[5]}}`))
	f.Add([]byte(`{"at_ns" : [ 0 , 5 ] , "x":{"y":"]"} , "columns" : { "a" : [ -1 ] } }`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := Series{raw: in}
		v, err := s.Values()
		if err != nil {
			return
		}
		text, err := json.Marshal(NewSeries(v))
		if err != nil {
			t.Fatal(err)
		}
		again, err := (&Series{raw: text}).Values()
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%s became %s: %v", in, text, err)
		}
	})
}
