package cli

import (
	"fmt"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/text/messages"
)

// runningTrial is a trial of a campaign while it runs.
type runningTrial struct {
	label  string
	rates  map[measure.Direction]float64 // bit/s, the latest
	figure string                        // of one that has no rate
}

// add takes note of a live interval.
func (r *runningTrial) add(i measure.Progress) {
	if i.RTT != nil {
		r.figure = messages.FormatLatency(i.RTT.P50)
		return
	}
	if r.rates == nil {
		r.rates = map[measure.Direction]float64{}
	}
	r.rates[i.Direction] = i.Bps
}

// runningKey distinguishes trials that run concurrently.
func runningKey(j *schedule.Job) string {
	return fmt.Sprint(j.Client.Reference(), ">", j.Server.Reference(), " ", j.Trial.Repeat, " ", j.Trial.Label)
}

// begin is what is known of a trial that runs.
func (p *progress) begin(j *schedule.Job) *runningTrial {
	key := runningKey(j)
	r := p.running[key]
	if r == nil {
		r = &runningTrial{label: j.Trial.Label}
		if p.running == nil {
			p.running = map[string]*runningTrial{}
		}
		p.running[key] = r
	}
	return r
}

// name is the pattern of a trial, and its pair if the plan has pairs. A plan without
// factors has one pattern, whose name says nothing.
func (p *progress) name(j *schedule.Job) string {
	if !p.pairs {
		return j.Trial.Pattern
	}
	pair := j.Client.Reference() + " → " + j.Server.Reference()
	if len(j.Trial.Levels) == 0 {
		return pair
	}
	return j.Trial.Pattern + ", " + pair
}

// drawRunning writes the live line of what runs: of one trial its name and figure, of
// several their pattern, their number and the sum of their rates.
func (p *progress) drawRunning(e campaign.Event) {
	name, label, figure := p.name(e.Job), e.Job.Trial.Label, ""
	if len(p.running) > 1 {
		name = e.Job.Trial.Pattern
	}
	var sum float64
	for _, r := range p.running {
		if r.label != label {
			label = ""
		}
		for _, bps := range r.rates {
			sum += bps
		}
		if r.figure != "" && len(p.running) == 1 {
			figure = r.figure
		}
	}
	if figure == "" && sum > 0 {
		figure = messages.FormatRate(sum)
	}
	p.draw(e, name, label, figure)
}
