package campaign_test

import (
	"context"
	"testing"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// baselinePlace is a place whose trials measure a baseline unless they get one of the same conditions.
type baselinePlace struct {
	conditions string
	measured   int
}

func (p *baselinePlace) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result {
	r := &measure.Result{ID: s.Result, Latency: &measure.Latency{}}
	for _, b := range s.Baselines {
		if b.Conditions == p.conditions {
			r.Latency.Floor = &b
			return r
		}
	}
	p.measured++
	r.Latency.Floor = &measure.FloorReading{RTT: measure.Percentiles{P50: float64(p.measured)}, Conditions: p.conditions}
	return r
}

func TestAClientMeasuresOneBaselineARound(t *testing.T) {
	place := &baselinePlace{}
	p := campaign.Places{Of: func(schedule.Job) agent.Place { return place }, Baselines: &campaign.Baselines{}}
	run := func(round int, client, conditions, id string) *measure.FloorReading {
		place.conditions = conditions
		j := schedule.Job{Trial: measure.Trial{Round: round}, Result: id}
		j.Client.Endpoint.Name = client
		return p.Run(t.Context(), j, campaign.Hooks{}).Latency.Floor
	}
	for i, c := range []struct {
		round              int
		client, conditions string
		measured           int
		with               string
	}{
		{1, "a", "tcp", 1, ""}, {1, "a", "tcp", 1, "r0"}, {1, "a", "udp", 2, ""}, {1, "b", "tcp", 3, ""}, {1, "a", "tcp", 3, "r0"},
		{2, "a", "tcp", 4, ""}, {2, "a", "tcp", 4, "r5"},
	} {
		got := run(c.round, c.client, c.conditions, "r"+string(rune('0'+i)))
		if place.measured != c.measured || got.MeasuredWith != c.with {
			t.Errorf("trial %d: %d baselines measured, this one with %q; want %d, %q", i, place.measured, got.MeasuredWith, c.measured, c.with)
		}
	}
}

// A trial whose median is below the known baseline measures another one.
func TestOneBaselineOfEqualConditionsIsKept(t *testing.T) {
	var known []measure.FloorReading
	medians := []float64{3, 2, 5}
	place := placeFunc(func(s agent.Spec) *measure.Result {
		known = s.Baselines
		m := medians[0]
		medians = medians[1:]
		return &measure.Result{ID: s.Result, Latency: &measure.Latency{Floor: &measure.FloorReading{RTT: measure.Percentiles{P50: m}, Conditions: "tcp"}}}
	})
	p := campaign.Places{Of: func(schedule.Job) agent.Place { return place }, Baselines: &campaign.Baselines{}}
	for range len(medians) {
		p.Run(t.Context(), schedule.Job{Trial: measure.Trial{Round: 1}}, campaign.Hooks{})
	}
	if len(known) != 1 || known[0].RTT.P50 != 2 {
		t.Errorf("%+v", known)
	}
}

// placeFunc is a place whose trials take no time.
type placeFunc func(agent.Spec) *measure.Result

func (f placeFunc) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result { return f(s) }
