package cli

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/internal/store"
	"soku/internal/store/sqlite"
)

// comparables are a store with results to compare, and the values that went into it.
type comparables struct {
	store  store.Store
	n      int
	start  time.Time
	values map[string][]float64 // round means, by campaign, label and pattern
}

// filled is the file of such a store and what is in it. It is made once: the store waits for
// the disk at each of its results.
var filled = sync.OnceValues(func() ([]byte, *comparables) {
	dir, err := os.MkdirTemp("", "soku-compare")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "soku.db")
	s, err := sqlite.Open(context.Background(), file)
	if err != nil {
		panic(err)
	}
	c := &comparables{store: s, start: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), values: map[string][]float64{}}
	c.campaign("before", 1)
	c.campaign("after", 1.2)
	for i, bps := range []float64{100e6, 110e6} {
		c.put(fmt.Sprintf("hand%d-bytes", i), measure.TestTCP, nil, bps)
	}
	c.put("hand-latency", measure.TestLatency, nil, 2e6)
	if err := s.Close(); err != nil {
		panic(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return b, c
})

// fillComparable is the store of a System with those results.
func fillComparable(t *testing.T, sys *System) comparables {
	t.Helper()
	b, c := filled()
	if err := os.MkdirAll(sys.DataDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(storeFile(sys, ""), b, 0o644); err != nil {
		t.Fatal(err)
	}
	out := *c
	out.values = maps.Clone(c.values)
	return out
}

// campaign adds a campaign of two SKUs and two numbers of streams, whose tests are up (tcp)
// and rtt (latency, which has no streams).
func (c *comparables) campaign(name string, factor float64) {
	id := "20260314-090000-" + name + "-0a1b2c"
	plan := "campaign: " + name + "\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\nrounds: 8\nfactors: {sku: {by: hand, levels: [basic, ultra]}, streams: [1, 8]}\ntests: {up: {test: tcp}, rtt: {test: latency}}\n"
	if err := c.store.PutCampaign(context.Background(), store.Campaign{ID: id, Name: name, StartedAt: c.start.Add(time.Duration(c.n) * time.Minute), Plan: plan}); err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := 1; round <= 8; round++ {
		drift := math.Exp(0.1 * r.NormFloat64())
		for _, sku := range []string{"basic", "ultra"} {
			for _, streams := range []string{"1", "8"} {
				value := 200e6 * factor * drift * math.Exp(0.01*r.NormFloat64())
				rtt := 3e6 / factor * math.Exp(0.01*r.NormFloat64())
				if sku == "ultra" {
					value, rtt = value*1.1, rtt*1.001
				}
				if streams == "8" {
					value *= 1.004
				}
				trial := measure.Trial{
					Campaign: id, Name: name, Pattern: sku + " / " + streams, Round: round, Repeat: 1, Order: 1,
					Levels:  []measure.Level{{Factor: "sku", Value: sku}, {Factor: "streams", Value: streams}},
					Session: &measure.Session{ID: "s", Number: 1},
				}
				for label, v := range map[string]float64{"up": value, "rtt": rtt} {
					one := trial
					one.Label = label
					test := map[string]measure.Test{"up": measure.TestTCP, "rtt": measure.TestLatency}[label]
					v = c.put("", test, &one, v)
					key := name + " " + label + " " + trial.Pattern
					c.values[key] = append(c.values[key], v)
				}
			}
		}
	}
}

// put stores a result and returns its figure, which of a round trip is what its histogram
// makes of it.
func (c *comparables) put(id string, test measure.Test, trial *measure.Trial, value float64) float64 {
	c.n++
	if id == "" {
		id = fmt.Sprintf("0198f3a2%05d", c.n)
	}
	o, err := option.Effective(option.Defaults(test), test)
	if err != nil {
		panic(err)
	}
	r := &measure.Result{
		Schema: measure.Schema, ID: id, Test: test, Trial: trial, Options: o, StartedAt: c.start.Add(time.Duration(c.n) * time.Minute),
		Path: measure.Path{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
	}
	if test == measure.TestTCP {
		r.Summary = measure.Summary{GoodputBps: value, Confidence: measure.High}
	} else {
		h := measure.NewHistogram()
		for range 100 {
			h.Record(int64(value))
		}
		r.Latency = &measure.Latency{Histogram: h, Sent: 100, Received: 100}
		r.Summary = measure.Summary{RTT: h.Percentiles(), Confidence: measure.High}
	}
	if err := c.store.Put(context.Background(), r); err != nil {
		panic(err)
	}
	v, found := metric.Ranking(test, []*measure.Result{r}).Value(r)
	if !found {
		panic(id + " has no figure")
	}
	return v
}

// rounds are the round means of before for one stream; round trips do not depend on the
// streams, so that a round has two of them.
func (c *comparables) rounds(label, sku string) []float64 {
	one := c.values["before "+label+" "+sku+" / 1"]
	if label == "up" {
		return one
	}
	means := make([]float64, len(one))
	for i, v := range c.values["before "+label+" "+sku+" / 8"] {
		means[i] = (one[i] + v) / 2
	}
	return means
}
