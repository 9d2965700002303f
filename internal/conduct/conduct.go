package conduct

import (
	"cmp"
	"context"
	"errors"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/version"
)

// Conductor conducts campaigns. Its fields are not changed after the first call; its methods
// may be called by several goroutines.
type Conductor struct {
	Host      Host
	Store     store.Store // gets each result when it is in the journal
	Journals  journal.Backend
	Observer  Observer  // or nil
	Questions Questions // or nil if no person can be asked; a plan that needs one is refused then
}

// Order is what to run of a plan, and how.
type Order struct {
	Plan     *plan.Plan     // from [Load]
	Topology *lab.Topology  // of the plan's lab, or nil
	Only     plan.Selection // from [Select], or empty for all patterns

	Resume      bool   // go on with a campaign of the plan instead of a new one
	Campaign    string // the one to resume: its identity, the beginning of one, or last; empty: the newest that has trials left
	RetryFailed bool   // with Resume: also repeat failed trials
	MoreRounds  int    // with Resume: add this many rounds
	Seed        *int64 // of the order, or nil for the plan's or a drawn one

	Patience    time.Duration // how long a trial waits for a server that cannot be reached
	NoPreflight bool          // do not check before the first trial that servers can be reached
	Access      agent.Access  // to servers that run already

	// Blocked are pairs that do not run because their ends did not reach each other in the run before; with NoPreflight.
	Blocked map[schedule.EndpointPair]*measure.Error
}

// Session is a campaign that is ready to run: its lab is up, its hosts are prepared and its
// journal is held. It is used by one goroutine.
type Session struct {
	Campaign *campaign.Campaign

	conductor *Conductor
	order     Order
	place     *place
	executor  *campaign.Executor
}

// Run conducts a campaign: [Conductor.Open], [Session.Run] and [Session.Close]. The Outcome
// is valid also with an error.
func (c *Conductor) Run(ctx context.Context, o Order) (out campaign.Outcome, err error) {
	s, err := c.Open(ctx, o)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	return s.Run(ctx)
}

// Open makes a campaign ready to run. It checks all that can be checked before anything is
// built or sent. It returns an error of kind
//
//   - usage: the plan needs a person and there are no Questions, needs a hub and there are no Agents, or is not
//     the plan that the campaign began with;
//   - not_found: there is no campaign to resume, or it has nothing left to do;
//   - permission: a lab needs root;
//   - refused: another process works on the campaign;
//   - unreachable and others of [campaign.Preflight]: a host or server cannot be used;
//   - interrupted: ctx ended.
//
// The caller closes the session. After an error there is nothing to close.
func (c *Conductor) Open(ctx context.Context, o Order) (_ *Session, err error) {
	s := &Session{conductor: c, order: o, place: &place{host: &c.Host}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(ctx))
		}
	}()
	if s.place.agents, err = newAgents(c.Host.Agents, c.Host.Now, o); err != nil {
		return nil, err
	}
	measures := true // at least one trial
	if o.Resume {
		if s.Campaign, err = s.resume(); err != nil {
			return nil, err
		}
		if measures = s.left(); !measures {
			o.Topology = nil // no trial needs the lab
			if err := s.refill(ctx); err != nil {
				return nil, err
			}
		}
	}
	s.executor = &campaign.Executor{
		Limit: o.Plan.Concurrency(), Store: c.Store, Only: o.Only, RetryFailed: o.RetryFailed, Patience: o.Patience,
		Version: version.String(), Now: c.Host.Now, Watch: c.watch, Blocked: o.Blocked,
	}
	if measures {
		if s.executor.Confirm, err = c.confirm(o); err != nil {
			return nil, err
		}
	}
	id := measure.NewCampaignID(o.Plan.Campaign, c.Host.Now())
	if s.Campaign != nil {
		id = s.Campaign.ID()
	}
	if err := s.place.bringUp(ctx, o.Topology, id, c.begun); err != nil {
		return nil, err
	}
	s.executor.Reserve = s.place.agents.reserve(id)
	s.executor.Runner, s.executor.Command = s.place.runner(o.Access, s.executor.Limit), s.place.command(o.Plan)
	if measures {
		s.place.remotes = newRemotes(&c.Host, o.Plan.RemoteHosts(o.Only))
		if err := s.preflight(ctx); err != nil {
			return nil, err
		}
	}
	if s.Campaign == nil {
		if s.Campaign, err = s.create(id); err != nil {
			return nil, err
		}
	}
	c.begun(Beginning{Step: StepCampaign, Running: s.Campaign, Estimate: s.Campaign.Estimate(o.Only)})
	return s, nil
}

// Run runs the trials that are selected and left. Its errors are documented at
// [campaign.Executor.Run]. The Outcome is valid also with an error.
func (s *Session) Run(ctx context.Context) (campaign.Outcome, error) {
	out, err := s.executor.Run(ctx, s.Campaign)
	s.conductor.observer().Ended(Ended{s.Campaign, out, err})
	return out, err
}

// Close releases the campaign, removes what was copied to hosts and takes the lab down, also
// after ctx has ended. It takes at most 20 s.
func (s *Session) Close(ctx context.Context) error {
	err := s.place.down(ctx)
	if s.Campaign != nil {
		err = errors.Join(err, s.Campaign.Close())
	}
	return err
}

func (c *Conductor) observer() Observer { return cmp.Or[Observer](c.Observer, silent{}) }

func (c *Conductor) begun(b Beginning) { c.observer().Begun(b) }

// watch passes an event of the executor to the observer.
func (c *Conductor) watch(e campaign.Event) {
	if e.Kind == campaign.EventProgress {
		c.observer().Sample(e)
		return
	}
	c.observer().Trial(e)
}

// create begins a new campaign.
func (s *Session) create(id string) (*campaign.Campaign, error) {
	c, p := s.conductor, s.order.Plan
	older, err := campaign.Find(c.Journals, p.Campaign)
	if err != nil {
		return nil, err
	}
	if len(older) > 0 && older[0].Open() {
		c.begun(Beginning{Step: StepLeft, Campaign: older[0].Record.ID, Left: older[0].Trials - older[0].Done, Trials: older[0].Trials})
	}
	seed := cmp.Or(s.order.Seed, p.Seed)
	if seed == nil {
		drawn := schedule.DrawSeed()
		seed = &drawn
	}
	return campaign.CreateAs(id, c.Journals, p, *seed, version.String(), c.Host.Now())
}

// confirm returns what confirms factors that are changed by hand, or nil if the selected
// patterns have none.
func (c *Conductor) confirm(o Order) (func(context.Context, campaign.HandChange) (journal.Confirmed, error), error) {
	states := o.Plan.HandStates(o.Only)
	switch {
	case len(states) == 0:
		return nil, nil
	case o.Plan.Chooses(o.Only):
		return func(context.Context, campaign.HandChange) (journal.Confirmed, error) {
			return journal.Confirmed{How: journal.ConfirmedBySelection, User: c.Host.Username()}, nil
		}, nil
	case c.Questions == nil:
		return nil, o.Plan.NoTerminal(states[0])
	}
	return func(ctx context.Context, change campaign.HandChange) (journal.Confirmed, error) {
		person, err := c.Questions.SetLevels(ctx, change)
		if err != nil {
			return journal.Confirmed{}, measure.Fail(measure.KindInterrupted, "campaign.not_confirmed", measure.Figures{"plan": o.Plan.File})
		}
		if person != "" {
			return journal.Confirmed{How: journal.ConfirmedAtHub, User: person}, nil
		}
		return journal.Confirmed{How: journal.ConfirmedAtTerminal, User: c.Host.Username()}, nil
	}, nil
}
