package campaigns

import (
	"context"
	"slices"
	"sync"
	"time"

	"soku/internal/campaign"
	"soku/internal/conduct"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// State is a campaign that a hub runs or ran, as far as it is now.
type State struct {
	Campaign string     `json:"campaign"`
	Name     string     `json:"name"`
	BeganAt  time.Time  `json:"began_at"`
	EndedAt  *time.Time `json:"ended_at,omitempty"`
	Live     bool       `json:"live"` // this hub runs it

	Done    int   `json:"done"`
	Failed  int   `json:"failed"`
	Skipped int   `json:"skipped"`
	Total   int   `json:"total"`
	LeftNs  int64 `json:"left_ns"` // of time, estimated

	Asks *Question `json:"asks,omitempty"` // what the campaign waits for a person to do
	// Agents are the endpoints that the plan names by labels, such as zone=west.
	Agents map[string][]string `json:"agents,omitempty"`

	Running []Trial        `json:"running,omitempty"`
	Events  []Event        `json:"events,omitempty"` // the newest last
	Error   *measure.Error `json:"error,omitempty"`  // why it ended before all was done
}

// Trial is one that runs.
type Trial struct {
	Result  string       `json:"result"`
	Test    measure.Test `json:"test"`
	Label   string       `json:"label"`
	Pattern string       `json:"pattern"`
	Client  string       `json:"client"`
	Server  string       `json:"server"`
	Round   int          `json:"round"`
	BeganAt time.Time    `json:"began_at"`
	Bps     float64      `json:"bps,omitempty"` // of the last interval
}

// Question is a change that a person is asked to make, by [Campaigns.Confirm].
type Question struct {
	ID     int64           `json:"id"` // of this question: no later one has it
	Levels []measure.Level `json:"levels"`
	Number int             `json:"number"`       // among the changes of this run, from 1
	Of     int             `json:"of,omitempty"` // changes that this run needs; 0: not known
}

// Event is something that a person wants to know afterwards.
type Event struct {
	At    time.Time      `json:"at"`
	Kind  string         `json:"kind"` // failed, repeated, host_gone, waiting, conflict, aborted, unreachable, address
	Host  string         `json:"host,omitempty"`
	Trial string         `json:"trial,omitempty"` // identity of its result
	Error *measure.Error `json:"error,omitempty"`
}

// mostEvents is how many events a state has; those between the first half and the newest are left out.
const mostEvents = 200

// Run is one campaign. It is a [conduct.Observer] and its [conduct.Questions]; other methods may be called by several goroutines.
type Run struct {
	now    func() time.Time
	cancel context.CancelCauseFunc
	begun  chan struct{} // closed when its first trial can begin
	ended  chan struct{}

	mu      sync.Mutex
	state   State
	version uint64
	changed chan struct{} // closed by the next change
	answer  chan string   // takes the name of the person who confirms; nil: there is no question
}

func newRun(now func() time.Time) *Run {
	return &Run{now: now, begun: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}), state: State{BeganAt: now().UTC()}}
}

// State is a copy of the state.
func (r *Run) State() State {
	s, _ := r.versioned()
	return s
}

func (r *Run) versioned() (State, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.Live = s.EndedAt == nil
	s.Running, s.Events = slices.Clone(s.Running), slices.Clone(s.Events)
	return s, r.version
}

// Next waits until the state has another version than the caller knows, and returns both; 0 is of no state. It
// returns the cause of ctx when that ends.
func (r *Run) Next(ctx context.Context, known uint64) (State, uint64, error) {
	for {
		r.mu.Lock()
		changed, same := r.changed, r.version == known
		r.mu.Unlock()
		if !same {
			s, version := r.versioned()
			return s, version, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return State{}, known, context.Cause(ctx)
		}
	}
}

func (r *Run) change(edit func(s *State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	edit(&r.state)
	r.version++
	close(r.changed)
	r.changed = make(chan struct{})
}

// SetLevels implements [conduct.Questions].
func (r *Run) SetLevels(ctx context.Context, c campaign.HandChange) (person string, err error) {
	answer := make(chan string, 1)
	r.change(func(s *State) {
		s.Asks, r.answer = &Question{ID: r.now().UnixNano(), Levels: c.Levels, Number: c.Number, Of: c.Of}, answer
	})
	defer r.change(func(s *State) { s.Asks, r.answer = nil, nil })
	select {
	case person = <-answer:
		return person, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// confirm answers a question, and reports whether it is still asked.
func (r *Run) confirm(question int64, person string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answer == nil || r.state.Asks.ID != question {
		return false
	}
	r.answer <- person
	r.answer = nil
	return true
}

// Begun implements [conduct.Observer].
func (r *Run) Begun(b conduct.Beginning) {
	switch b.Step {
	case conduct.StepUnreachable:
		r.change(func(s *State) { s.add(Event{At: r.now().UTC(), Kind: "unreachable", Error: b.Error}) })
	case conduct.StepAddress:
		r.change(func(s *State) { s.add(Event{At: r.now().UTC(), Kind: "address", Error: b.Error}) })
	case conduct.StepCampaign:
		r.change(func(s *State) {
			s.Campaign, s.Name = b.Running.ID(), b.Running.Record.Name
			s.Done, s.Failed = b.Running.Done()
			s.Total = b.Running.Trials()
			s.Agents = b.Running.Plan.LabelledEndpoints()
		})
		close(r.begun)
	}
}

// Sample implements [conduct.Observer].
func (r *Run) Sample(e campaign.Event) {
	r.change(func(s *State) {
		if i := s.running(e.Job.Result); i >= 0 && e.Progress != nil {
			s.Running[i].Bps = e.Progress.Bps
		}
	})
}

// kinds are the events that are kept, by their kind in a campaign.
var kinds = map[campaign.EventKind]string{
	campaign.EventHostGone: "host_gone", campaign.EventWaiting: "waiting", campaign.EventConflict: "conflict", campaign.EventAborted: "aborted",
}

// Trial implements [conduct.Observer].
func (r *Run) Trial(e campaign.Event) {
	at := r.now().UTC()
	r.change(func(s *State) {
		s.Done, s.Failed, s.LeftNs = e.Done, e.Failed, int64(e.Left)
		if e.Total > 0 {
			s.Total = e.Total
		}
		kind := kinds[e.Kind]
		switch e.Kind {
		case campaign.EventTrial:
			j := e.Job
			s.Running = append(s.Running, Trial{
				Result: j.Result, Test: j.Test, Label: j.Trial.Label, Pattern: j.Trial.Pattern, Client: j.Client.Endpoint.Name, Server: j.Server.Endpoint.Name,
				Round: j.Trial.Round, BeganAt: at,
			})
		case campaign.EventResult:
			if i := s.running(e.Job.Result); i >= 0 {
				s.Running = slices.Delete(s.Running, i, i+1)
			}
			s.finished(at, e.Job.Client.Endpoint.Name, e.Result.ID, e.Result.Error, len(e.Result.Findings.With(finding.RepeatsLost)) > 0)
		}
		if e.Kind == campaign.EventHostGone { // its trials are stopped and leave no result
			s.Running = slices.DeleteFunc(s.Running, func(t Trial) bool { return t.Client == e.Host || t.Server == e.Host })
		}
		if kind != "" {
			event := Event{At: at, Kind: kind, Host: e.Host, Error: e.Error}
			if e.Job != nil {
				event.Trial = e.Job.Result
			}
			s.add(event)
		}
	})
}

// Ended implements [conduct.Observer].
func (r *Run) Ended(e conduct.Ended) {
	r.change(func(s *State) { s.Skipped, s.Failed = e.Outcome.Skipped, e.Outcome.Failed })
}

// end is called when nothing runs any more.
func (r *Run) end(err error) {
	at := r.now().UTC()
	r.change(func(s *State) {
		s.EndedAt, s.Running, s.LeftNs, s.Error = &at, nil, 0, atHub(measure.AsError(err, measure.KindInternal))
	})
	close(r.ended)
}

// atHub is why a campaign ended with the command of a hub that goes on with it.
func atHub(e *measure.Error) *measure.Error {
	if e == nil || !slices.Contains([]string{"campaign.interrupted", "campaign.skipped", "campaign.skipped_and_failed", "campaign.failed"}, e.Code) || e.Figures["file"] == nil {
		return e
	}
	own := *e
	return own.WithHintCode("hub.campaign.left", measure.Figures{"file": e.Figures["file"]})
}

func (s *State) running(result string) int {
	return slices.IndexFunc(s.Running, func(t Trial) bool { return t.Result == result })
}

// finished adds what a person wants to know of a trial that has a result.
func (s *State) finished(at time.Time, client, result string, e *measure.Error, repeats bool) {
	if repeats {
		s.add(Event{At: at, Kind: "repeated", Trial: result, Host: client})
	}
	if e != nil {
		s.add(Event{At: at, Kind: "failed", Trial: result, Host: client, Error: e})
	}
}

func (s *State) add(e Event) {
	if len(s.Events) == mostEvents {
		s.Events = slices.Delete(s.Events, mostEvents/2, mostEvents/2+1)
	}
	s.Events = append(s.Events, e)
}
