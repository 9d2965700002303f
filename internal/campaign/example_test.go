package campaign_test

import (
	"context"
	"fmt"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store/memory"
)

// steady is a Runner whose trials all succeed, without a network.
type steady struct{}

func (steady) Run(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
	return &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now(), Options: j.Options}
}

// Two patterns in two rounds, each round in an order drawn from the seed.
func Example() {
	p, err := plan.Parse("plan.yaml", []byte("campaign: example\nto: server\nendpoints: {server: {address: 10.0.0.2}}\n"+
		"factors: {streams: [1, 8]}\ntests: {up: {test: tcp, duration: 1s}}\nrounds: 2\n"))
	if err != nil {
		panic(err)
	}
	c, err := campaign.Create(new(journal.Memory), p, 4, "example", time.Now())
	if err != nil {
		panic(err)
	}
	defer func() { _ = c.Close() }()
	e := campaign.Executor{Runner: steady{}, Store: memory.New(), Now: time.Now, Watch: func(e campaign.Event) {
		if e.Kind == campaign.EventResult {
			fmt.Println(e.Job.Key())
		}
	}}
	outcome, err := e.Run(context.Background(), c)
	fmt.Println(outcome.Done, "of", outcome.Total, "trials,", err)
	// Output:
	// 1, up, round 1, repeat 1
	// 8, up, round 1, repeat 1
	// 8, up, round 2, repeat 1
	// 1, up, round 2, repeat 1
	// 4 of 4 trials, <nil>
}
