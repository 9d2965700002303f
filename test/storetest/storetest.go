// Package storetest is the conformance suite of [store.Store]: what its
// comments promise, as tests. Every implementation runs it.
package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/store"
)

// Run tests the stores that open makes. Each call of open returns a new, empty
// store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, tests := range []map[string]func(*testing.T, store.Store){documents, prepared, lists, pagesOf, campaigns, lifetime} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				s := open(t)
				t.Cleanup(func() { _ = s.Close() })
				test(t, s)
			})
		}
	}
}

// Result is a result with something in most of its parts, started n seconds
// after a fixed moment.
func Result(id string, n int) *measure.Result {
	h := measure.NewHistogram()
	for i := range 100 {
		h.Record(int64(48_000 + i*100))
	}
	retransmits, loss := int64(3), 0.01
	return &measure.Result{
		Schema: measure.Schema, ID: id, Test: measure.TestTCP, Tool: measure.Tool{Name: "soku", Version: "1"},
		StartedAt: at(n),
		Path: measure.Path{
			Client:    measure.Endpoint{Name: "onprem", Address: "10.0.0.1"},
			Server:    measure.Endpoint{Name: "vm", Address: "10.1.0.2", Label: "vlan"},
			Direction: measure.Forward,
		},
		Options: option.Defaults(measure.TestTCP),
		Summary: measure.Summary{GoodputBps: 941.5e6, Retransmits: &retransmits, LossRatio: &loss},
		Flows: []measure.Flow{{
			Direction: measure.Forward,
			Streams:   []measure.Stream{{Index: 0, SentBytes: 10, ReceivedBytes: 9}},
			Samples:   []measure.Sample{{StartNs: 0, EndNs: 100_000_000, ReceivedBytes: 9}},
		}},
		Latency:  &measure.Latency{Timing: &measure.Timing{Loop: measure.LoopClosed}, Histogram: h, Sent: 100, Received: 100},
		Findings: measure.Findings{measure.TextFinding("日本語 \u0000 and \"quotes\"")},
	}
}

// at is n seconds after the fixed moment.
func at(n int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC).Add(time.Duration(n) * time.Second)
}

// inCampaign gives a result a place in a campaign. Its pattern is the level of
// the factor sku.
func inCampaign(r *measure.Result, campaign, pattern string, round, order int) *measure.Result {
	r.Trial = &measure.Trial{Campaign: campaign, Name: "study", Pattern: pattern, Label: "throughput",
		Levels: []measure.Level{{Factor: "sku", Value: pattern}}, Round: round, Order: order, Repeat: 1, Seed: 7}
	return r
}

func put(t *testing.T, s store.Store, results ...*measure.Result) {
	t.Helper()
	for _, r := range results {
		if err := s.Put(t.Context(), r); err != nil {
			t.Fatalf("Put(%s): %v", r.ID, err)
		}
	}
}

func wantKind(t *testing.T, err error, kind measure.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want kind %s", kind)
	}
	if got := measure.KindOf(err); got != kind {
		t.Fatalf("error %q has kind %s, want %s", err, got, kind)
	}
}

// wantCount fails the test unless the store has that many results.
func wantCount(t *testing.T, s store.Store, want int) {
	t.Helper()
	if n, err := s.Count(t.Context(), store.Query{}); err != nil || n != want {
		t.Errorf("the store has %d results (%v), want %d", n, err, want)
	}
}

func document(t *testing.T, r *measure.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
