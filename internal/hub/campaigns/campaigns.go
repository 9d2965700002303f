package campaigns

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/measure"
	"soku/internal/panics"
)

// Campaigns are those of a hub. Its methods may be called by several goroutines.
type Campaigns struct {
	conductor conduct.Conductor
	limits    func() (*catalog.Catalog, error)
	log       *slog.Logger
	patience  time.Duration
	byLabel   func(campaign, labels string) ([]plan.LabelledAgent, error)

	ctx  context.Context //nolint:containedctx // of all campaigns: they outlive the request that starts them
	stop context.CancelCauseFunc
	work panics.Group

	mu      sync.Mutex
	runs    map[string]*Run           // by campaign; those that ended stay until there are mostEnded
	settled map[string]*measure.Error // campaigns that ended (nil), or why they cannot be gone on with: TakeOver need not read their journals again
	former  former
}

// Config says what campaigns need.
type Config struct {
	Conductor conduct.Conductor                // without an Observer; Journals hold a campaign for one hub
	Limits    func() (*catalog.Catalog, error) // documented limits that plans name
	Log       *slog.Logger
	Patience  time.Duration // how long a trial waits for an agent that went away

	// ByLabel finds the agents that the plan of a campaign names by labels: see [plan.BindLabels].
	ByLabel func(campaign, labels string) ([]plan.LabelledAgent, error)
}

// mostEnded is how many campaigns that ended are remembered with what happened; the journal has the rest.
const mostEnded = 100

// Codes of the ends of a run that a hub makes.
const (
	codeStopping = "hub.stopping" // the hub ends: it goes on with the campaign when it starts again
	codeStopped  = "hub.stopped"  // a person stopped it
)

// New returns the campaigns of a hub. The caller closes them.
func New(c Config) *Campaigns {
	out := &Campaigns{
		conductor: c.Conductor, limits: c.Limits, log: c.Log, patience: c.Patience, byLabel: c.ByLabel,
		runs: map[string]*Run{}, settled: map[string]*measure.Error{}, former: former{make(chan struct{}, 1), map[string]formerState{}},
	}
	out.ctx, out.stop = context.WithCancelCause(context.Background())
	return out
}

// Close interrupts all campaigns and waits for them. A hub that starts again goes on with them.
func (c *Campaigns) Close() {
	c.stop(measure.Fail(measure.KindInterrupted, codeStopping, nil))
	c.work.Wait()
}

// Order is a plan to run.
type Order struct {
	File string   // name of the plan, for people
	Text []byte   // of the plan
	Only []string // patterns, as [conduct.Select] reads them; empty: all

	Resume      bool // go on with the newest campaign of the plan that has trials left
	RetryFailed bool // with Resume: also repeat failed trials
}

// Start begins a campaign or goes on with one, and returns when its first trial can begin. An error is one of
// [Campaigns.Load], of [conduct.Conductor.Open], or the cause of ctx; then nothing runs.
func (c *Campaigns) Start(ctx context.Context, o Order) (*Run, error) {
	text := o.Text
	if o.Resume {
		var err error
		if text, err = c.bindAsBefore(o); err != nil {
			return nil, err
		}
	}
	p, err := c.Load(o.File, text)
	if err != nil {
		return nil, err
	}
	selected, err := conduct.Select(p, o.Only)
	if err != nil {
		return nil, err
	}
	return c.launch(ctx, conduct.Order{Plan: p, Only: selected, Resume: o.Resume, RetryFailed: o.RetryFailed, Patience: c.patience})
}

// bindAsBefore is the text of the plan with the agents that its labels meant when the campaign began that the order goes on with.
func (c *Campaigns) bindAsBefore(o Order) ([]byte, error) {
	return plan.BindLabels(o.File, o.Text, func(name, labels string) (found []plan.LabelledAgent, err error) {
		info, _, err := conduct.ToResume(c.conductor.Journals, conduct.Order{Plan: &plan.Plan{Campaign: name, File: o.File}, RetryFailed: o.RetryFailed})
		if err != nil {
			return nil, err
		}
		began, err := plan.ParseRecorded(info.Record.File, []byte(info.Record.Text))
		if err != nil {
			return nil, err
		}
		agents, _ := began.AgentsByLabel.Get(labels)
		for _, a := range agents {
			found = append(found, plan.LabelledAgent{Endpoint: a.Name, ID: a.Value})
		}
		if len(found) == 0 { // the campaign will say that it began with another plan
			return c.byLabel(name, labels)
		}
		return found, nil
	})
}

// Load reads a plan that a hub may run. An error has kind file or usage, or kind refused for a plan that runs code or
// trials on the hub: who may start a plan would have a shell there, or could copy its keys away. Commands run on the agent that
// the plan names, if its owner allows that.
func (c *Campaigns) Load(file string, text []byte) (*plan.Plan, error) {
	text, err := plan.BindLabels(file, text, c.byLabel)
	if err != nil {
		return nil, err
	}
	p, _, err := conduct.Load(file, func(name string) ([]byte, error) {
		if name != file {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return text, nil
	}, c.limits)
	if err != nil {
		return nil, err
	}
	if key := runsCode(p); key != "" {
		return nil, measure.Fail(measure.KindRefused, "hub.plan.runs_code", measure.Figures{"plan": file, "key": key})
	}
	if e, ok := p.Endpoints.Get(p.CommandsOn); ok {
		if err := c.conductor.Host.Agents.MayCommand(e.Agent); err != nil {
			return nil, err
		}
	} else if key := runsCommands(p); key != "" {
		return nil, measure.Fail(measure.KindRefused, "hub.plan.runs_commands", measure.Figures{"plan": file, "key": key})
	}
	patterns := p.AllPatterns()
	for i := range patterns {
		for _, client := range p.Clients(&patterns[i]) {
			if client.Agent == "" {
				return nil, measure.Fail(measure.KindRefused, "hub.plan.no_agent", measure.Figures{"plan": file, "pattern": patterns[i].Name, "client": client.Reference()})
			}
		}
	}
	return p, nil
}

// runsCode is the key of a plan that has a program run on the hub, or "".
func runsCode(p *plan.Plan) string {
	if p.Lab != "" {
		return "lab"
	}
	for _, e := range p.Endpoints {
		if len(e.Value.Command) > 0 {
			return "endpoints." + e.Name + ".command"
		}
		if e.Value.SSH != "" {
			return "endpoints." + e.Name + ".ssh"
		}
	}
	return ""
}

// runsCommands is the key of a plan that has a command run around trials, or "".
func runsCommands(p *plan.Plan) string {
	switch {
	case p.Before != "":
		return "before"
	case p.After != "":
		return "after"
	case len(p.Shell) > 0:
		return "shell"
	}
	for _, f := range p.Factors {
		for _, l := range f.Value.Levels {
			if cmp.Or(l.Before, l.After) != "" {
				return "factors." + f.Name + ".levels"
			}
		}
	}
	return ""
}

// launch runs an order, and returns when its campaign is ready to run or cannot.
func (c *Campaigns) launch(ctx context.Context, o conduct.Order) (*Run, error) {
	r := newRun(c.conductor.Host.Now)
	own, cancel := context.WithCancelCause(c.ctx)
	r.cancel = cancel
	conductor := c.conductor
	conductor.Observer, conductor.Questions = r, r
	c.work.Go(func() {
		defer cancel(nil)
		_, err := conductor.Run(own, o)
		r.end(err)
		c.forget()
		if err != nil {
			c.log.Info("campaign", "campaign", r.State().Campaign, "error", err)
		}
	})
	select {
	case <-r.begun:
	case <-r.ended:
		if s := r.State(); s.Campaign == "" || s.Total == 0 {
			return nil, r.State().Error
		}
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		<-r.ended
		return nil, context.Cause(ctx)
	}
	id := r.State().Campaign
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[id] = r
	delete(c.settled, id)
	delete(c.former.states, id)
	return r, nil
}

// forget drops the campaigns that ended first, where there are many.
func (c *Campaigns) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ended []State
	for _, r := range c.runs {
		if s := r.State(); s.EndedAt != nil {
			ended = append(ended, s)
		}
	}
	slices.SortFunc(ended, func(a, b State) int { return b.EndedAt.Compare(*a.EndedAt) })
	for _, s := range ended[min(len(ended), mostEnded):] {
		delete(c.runs, s.Campaign)
	}
}

// Find is the run of a campaign by this hub since it started, or nil.
func (c *Campaigns) Find(id string) *Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[id]
}

// States are those of all runs by this hub since it started, the newest first.
func (c *Campaigns) States() (out []State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.runs {
		out = append(out, r.State())
	}
	slices.SortFunc(out, func(a, b State) int { return cmp.Or(b.BeganAt.Compare(a.BeganAt), cmp.Compare(b.Campaign, a.Campaign)) })
	return out
}

// Stop interrupts a campaign. Its trials that are left do not run, until a person goes on with it. An error has kind not_found.
func (c *Campaigns) Stop(id, person string) error {
	r := c.Find(id)
	if r == nil || r.State().EndedAt != nil {
		return measure.Fail(measure.KindNotFound, "hub.campaign.not_running", measure.Figures{"campaign": id})
	}
	r.cancel(measure.Fail(measure.KindInterrupted, codeStopped, measure.Figures{"person": person}))
	return nil
}

// Confirm answers a [Question] of a campaign: the person has made the change. An error has kind not_found, or refused if
// the campaign does not ask that, because it was answered before.
func (c *Campaigns) Confirm(id string, question int64, person string) error {
	r := c.Find(id)
	if r == nil || r.State().EndedAt != nil {
		return measure.Fail(measure.KindNotFound, "hub.campaign.not_running", measure.Figures{"campaign": id})
	}
	if !r.confirm(question, person) {
		return measure.Fail(measure.KindRefused, "hub.campaign.not_asked", measure.Figures{"campaign": id})
	}
	return nil
}

// TakeOver goes on with the campaigns that a hub left without an end, this one before it was started again or
// another whose lease is over. It returns those that it goes on with. An error is that of the journals; a
// campaign that cannot be gone on with is logged, once.
func (c *Campaigns) TakeOver(ctx context.Context) (ids []string, err error) {
	all, err := c.conductor.Journals.IDs()
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		if c.passedOver(id) {
			continue
		}
		left, err := c.left(id)
		if err == nil && left == nil {
			c.settle(id, nil)
			continue
		}
		if err == nil {
			_, err = c.launch(ctx, *left)
		}
		e := measure.AsError(err, measure.KindInternal)
		switch {
		case e == nil:
			ids = append(ids, id)
		case ctx.Err() != nil:
			return ids, context.Cause(ctx)
		case e.Code == "campaign.held": // by the hub that runs it
		default:
			c.log.Warn("a campaign that was left is not gone on with", "campaign", id, "error", e.Message)
			if e.Kind != measure.KindStore && e.Kind != measure.KindUnreachable { // which may pass
				c.settle(id, e)
			}
		}
	}
	return ids, nil
}

// passedOver reports whether a campaign runs here, or is settled.
func (c *Campaigns) passedOver(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[id]
	_, settled := c.settled[id]
	return settled || r != nil && r.State().EndedAt == nil
}

func (c *Campaigns) settle(id string, why *measure.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled[id] = why
}

// passing are causes for which a store takes nothing, and which may pass without a change of campaign or store.
var passing = []string{"store.cause.full", "store.cause.stopped", "store.cause.unreachable", "store.cause.many_connections", "store.cause.locked"}

// goesOn reports whether a hub goes on with a campaign whose last run has this end: the hub ended, or the store took nothing
// for a cause that passes.
func goesOn(end journal.Record) bool {
	for e := end.Error; e != nil; e = e.Cause {
		if slices.Contains(passing, e.Code) {
			return true
		}
	}
	return end.Code == codeStopping
}

// left is how to go on with a campaign whose last run did not end in good order, or [goesOn]. It is nil for others.
func (c *Campaigns) left(id string) (*conduct.Order, error) {
	var head *journal.PlanRecord
	var run journal.RunRecord // the last one
	var blocked map[schedule.EndpointPair]*measure.Error
	ended := false
	err := c.conductor.Journals.Read(id, func(r journal.Record) error {
		ended = r.Kind == journal.RecordEnded && !goesOn(r)
		switch {
		case r.Kind == journal.RecordPlan:
			head = r.Plan
		case r.Kind == journal.RecordStarted && r.Run != nil:
			run, blocked = *r.Run, map[schedule.EndpointPair]*measure.Error{}
		case r.Kind == journal.RecordAborted && r.Code == campaign.CodeNoWay && r.Abort != nil:
			blocked[schedule.EndpointPair{Client: r.Abort.Client, Server: r.Abort.Server}] = &measure.Error{Kind: measure.KindUnreachable, Code: r.Code, Message: r.Reason}
		}
		return nil
	})
	if err != nil || ended || head == nil {
		return nil, err
	}
	p, err := c.Load(head.File, []byte(head.Text))
	if err != nil {
		return nil, err
	}
	// It was checked before it began, and agents may come later than this hub.
	return &conduct.Order{
		Plan: p, Only: run.Only, RetryFailed: run.RetryFailed, Resume: true, Campaign: id, Patience: c.patience, NoPreflight: true, Blocked: blocked,
	}, nil
}
