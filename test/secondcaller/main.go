// Secondcaller runs a plan with package conduct and an observer of its own, without the
// command line of soku: what a service that runs campaigns needs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/store/memory"
)

// lines is an observer that writes a line for each step, trial and end, and counts samples.
type lines struct {
	w       io.Writer
	samples int
}

func (l *lines) Begun(b conduct.Beginning) {
	if b.Step == conduct.StepCampaign {
		fmt.Fprintf(l.w, "begun: %d trials\n", b.Estimate.Trials)
	}
}

func (l *lines) Trial(e campaign.Event) {
	if e.Kind == campaign.EventResult {
		fmt.Fprintf(l.w, "%d of %d: %s\n", e.Done, e.Total, e.Result.Trial.Pattern)
	}
}

func (l *lines) Sample(campaign.Event) { l.samples++ }

func (l *lines) Ended(e conduct.Ended) {
	fmt.Fprintf(l.w, "ended: %d done, %d failed\n", e.Outcome.Done, e.Outcome.Failed)
}

func run(ctx context.Context, plan string, l *lines) error {
	p, topology, err := conduct.Load(plan, os.ReadFile, func() (*catalog.Catalog, error) { return catalog.Builtin(), nil })
	if err != nil {
		return err
	}
	c := conduct.Conductor{Host: conduct.ThisHost(), Store: memory.New(), Journals: new(journal.Memory), Observer: l}
	seed := int64(1)
	_, err = c.Run(ctx, conduct.Order{Plan: p, Topology: topology, Only: p.Only, Seed: &seed})
	return err
}

func main() {
	if err := run(context.Background(), os.Args[1], &lines{w: os.Stdout}); err != nil { //nolint:forbidigo // a program of its own
		panic(err)
	}
}
