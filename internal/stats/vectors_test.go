package stats

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// decodeVectors reads a file of testdata/vectors into a struct that has all its members.
// A value that this package does not compute is a json.RawMessage, with a comment that says why.
func decodeVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// agree checks a figure relative to its size; the vectors are rounded to 12 digits.
func agree(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	near(t, what, got, want, relative*math.Abs(want)+2e-12)
}

// number is one that may be null or "Inf".
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null":
		*n = number(math.NaN())
		return nil
	case `"Inf"`:
		*n = number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// intervalOfR is an interval of t.test in R 4.2.2.
type intervalOfR struct {
	Name      string
	LogRatios []float64 `json:"log_ratios"`
	Low       float64   `json:"t_low"`
	High      float64   `json:"t_high"`
}

// intervalsOfR are the cases of testdata/paired.json.
func intervalsOfR(t *testing.T) []intervalOfR {
	t.Helper()
	text, err := os.ReadFile("testdata/paired.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []intervalOfR }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err, len(file.Cases))
	}
	return file.Cases
}
