package tests

import (
	"slices"
	"testing"

	"soku/internal/measure"
)

func TestBranchesAreThoseOfMostFlowsFirst(t *testing.T) {
	flow := func(i int, path ...string) measure.TraceFlow { return measure.TraceFlow{Index: i, Path: path} }
	found := branchesOf(&measure.Trace{Flows: []measure.TraceFlow{flow(0, "a", "b"), flow(1, "a", "c"), flow(2, "a", "c"), flow(3, "a", ""), flow(4, "a", "c")}})
	var got []string
	for _, b := range found {
		got = append(got, ranges(b.flows)+": "+b.path)
	}
	want := []string{"1-2,4: a > c", "0: a > b"} // where flow 3 went is not known
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := branchesOf(&measure.Trace{Flows: []measure.TraceFlow{flow(0, "a"), flow(1, "a")}}); got != nil {
		t.Errorf("one way: %v", got)
	}
}
