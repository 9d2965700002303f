package iperf3

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/internal/wire/iperf3"
)

// The file has what a client of a version between 3.21 and 3.22 sends for a command line.
func TestTheParametersAreThoseOfIperf3(t *testing.T) {
	recorded, err := os.ReadFile("testdata/parameters-3.21.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(recorded), "\n"), "\n")
	for ; len(lines) >= 2; lines = lines[2:] {
		set, err := Parse(append(strings.Fields(lines[0]), "-c", "h"))
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{set: set}
		x, err := r.extra()
		if err != nil {
			t.Fatal(err)
		}
		test, o := set.options()
		if o, err = option.Effective(o, test); err != nil {
			t.Fatal(err)
		}
		p, err := iperf3.ParametersFor(wire.Request{Test: test, Options: o, IPerf3: x})
		if err != nil {
			t.Fatal(err)
		}
		own, err := json.Marshal(p)
		if want := strings.Replace(lines[1], `"3.21+"`, `"3.21"`, 1); err != nil || string(own) != want {
			t.Errorf("%s:\n%s, want\n%s %v", lines[0], own, want, err)
		}
		var read iperf3.Parameters
		if err := read.UnmarshalJSON([]byte(lines[1])); err != nil {
			t.Errorf("%s: %v", lines[0], err)
		}
	}
}
