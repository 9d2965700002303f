package campaign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
)

// Campaign is one campaign, held by this process alone until Close. Its methods
// may be called by several goroutines, Close by one after the others.
type Campaign struct {
	Plan      *plan.Plan
	Record    journal.PlanRecord
	StartedAt time.Time

	name string // of the journal
	lock journal.Lock

	mu       sync.Mutex // for what follows; held while the journal is written
	journal  journal.Journal
	outcomes outcomes
	results  []string  // identities in the order of the journal, replaced ones among them
	finished time.Time // when the last trial with a result ended
	bytes    int64     // payload moved so far, dropped trials included
	sessions int       // runs so far
	added    int       // rounds added to the plan's
	missed   int       // rounds whose times passed
	raised   int       // rounds of the plan that last had more of them, or 0
	wanted   int       // rounds of the plan as it is now; its own are those that the campaign began with
	trials   int       // of the whole campaign
	recorded int       // trials as the journal has them
	worked   worked
	figures  figures               // of plans that decide by them
	patterns func() []plan.Pattern // of the plan that is recorded

	additions []addition      // of levels, in their order
	levels    []measure.Level // of the plan as it is now that the campaign has not yet
}

// ID is the campaign's identity in its place and in the store.
func (c *Campaign) ID() string { return c.Record.ID }

// Create begins a campaign. The seed is the plan's own, or the given one. Close
// the campaign when done.
func Create(in journal.Backend, p *plan.Plan, seed int64, version string, now time.Time) (*Campaign, error) {
	return CreateAs(measure.NewCampaignID(p.Campaign, now), in, p, seed, version, now)
}

// CreateAs is Create with an identity that was made before, by [measure.NewCampaignID].
func CreateAs(id string, in journal.Backend, p *plan.Plan, seed int64, version string, now time.Time) (*Campaign, error) {
	sum := sha256.Sum256(p.Text)
	c := &Campaign{Plan: p, StartedAt: now.UTC(), outcomes: newOutcomes(), Record: journal.PlanRecord{
		Schema: journal.Schema, ID: id, Name: p.Campaign, File: p.File, Text: string(p.Text),
		SHA256: hex.EncodeToString(sum[:]), Seed: seed, Trials: p.Trials(), Patterns: len(p.AllPatterns()), Rounds: p.Rounds, Version: version,
	}}
	var err error
	if c.Record.Number, err = in.Number(); err != nil {
		return nil, err
	}
	if c.journal, c.lock, err = in.Create(c.Record.ID); err != nil {
		return nil, err
	}
	c.name = c.journal.Name()
	if err := c.write(journal.Record{Kind: journal.RecordPlan, At: c.StartedAt, Plan: &c.Record}); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Resume opens a campaign to go on with it. p is the plan as it is now; if it
// measures anything else than what the campaign began with, the error names the
// keys and has kind usage. A campaign that another process works on is refused.
func Resume(in journal.Backend, id string, p *plan.Plan) (*Campaign, error) {
	c := &Campaign{Plan: p, outcomes: newOutcomes()}
	var err error
	if c.journal, c.lock, err = in.Open(id, c.learn); err != nil {
		return nil, err
	}
	c.name = c.journal.Name()
	if err := c.samePlan(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// samePlan sees that the campaign began with the plan it goes on with.
func (c *Campaign) samePlan() error {
	if c.Record.ID == "" {
		return journal.Failure("journal.read", c.name, measure.Fail(measure.KindStore, "journal.no_plan", nil))
	}
	recorded, err := c.recordedPlan()
	if err != nil {
		return err
	}
	last, err := c.readAdditions(recorded)
	if err != nil {
		return err
	}
	if err := plan.SameMeasurement(last, c.Plan); err != nil {
		return err
	}
	c.levels = c.Plan.AddedTo(last)
	c.wanted = c.Plan.Rounds
	if c.wanted != recorded.Rounds { // others are added to those that the campaign began with
		p := *c.Plan
		p.Rounds, c.Plan = recorded.Rounds, &p
	}
	c.restrict()
	if before := c.planRounds(); !c.Plan.NamesRounds() {
		c.wanted = before
	} else if c.wanted < before {
		return measure.Fail(measure.KindUsage, "campaign.rounds_lowered", measure.Figures{"rounds": c.wanted, "before": before, "campaign": c.ID()})
	}
	return nil
}

// recordedPlan is the plan that the campaign began with.
func (c *Campaign) recordedPlan() (*plan.Plan, error) {
	p, err := plan.ParseRecorded(c.Record.File, []byte(c.Record.Text))
	if err == nil {
		p.Rounds = cmp.Or(c.Record.Rounds, p.Rounds)
	}
	return p, err
}

// learn takes one record of the journal into account.
func (c *Campaign) learn(rec journal.Record) error {
	c.worked.learn(rec)
	switch rec.Kind {
	case journal.RecordPlan:
		c.Record, c.StartedAt, c.trials, c.recorded = *rec.Plan, rec.At, rec.Plan.Trials, rec.Plan.Trials
		c.patterns = sync.OnceValue(c.recordedPatterns)
	case journal.RecordStarted:
		c.sessions++
	case journal.RecordRoundsAdded:
		c.added += rec.Rounds
		c.trials += rec.Trials
		c.recorded += rec.Trials
		c.raised = max(c.raised, rec.PlanRounds)
		if rec.FromRound > 0 {
			c.additions = append(c.additions, addition{Addition: Addition{FirstRound: rec.FromRound}, text: rec.Text})
		}
	case journal.RecordRoundsMissed:
		c.missed += rec.Rounds
		c.added -= rec.Rounds
		c.trials -= rec.Trials
		c.recorded -= rec.Trials
	case journal.RecordTrialsCounted:
		c.trials, c.recorded = rec.Trials, rec.Trials
	case journal.RecordGroupFinished:
		for _, finished := range rec.Group {
			if err := c.learn(finished); err != nil {
				return err
			}
		}
	case journal.RecordTrialStarted, journal.RecordTrialDropped:
		c.learnBegun(rec)
	case journal.RecordTrialFinished:
		key := c.resolved(*rec.Trial)
		c.outcomes.set(key, outcome{rec.Result.ID, rec.Result.Error != nil})
		if c.Plan != nil && c.Plan.DecidesByFigures() {
			res, err := rec.Result.Result()
			if err != nil {
				return err
			}
			c.figures.learn(c.Plan, c.outcomes.compact(key), key, res)
		}
		c.results = append(c.results, rec.Result.ID)
		c.finished = rec.At
	}
	c.bytes += rec.Bytes
	return nil
}

// learnBegun takes note of a trial that begins, or that was stopped and has no result.
func (c *Campaign) learnBegun(rec journal.Record) {
	if rec.Trial == nil {
		return
	}
	key := c.outcomes.compact(c.resolved(*rec.Trial))
	if rec.Kind == journal.RecordTrialDropped || rec.ResultID == "" {
		delete(c.outcomes.begun, key)
		return
	}
	c.outcomes.begun[key] = rec.ResultID
}

// resolved is a key with its levels, which journals of older versions do not have.
func (c *Campaign) resolved(key plan.TrialKey) plan.TrialKey {
	if key.Levels == nil && c.patterns != nil {
		return key.Resolve(c.patterns())
	}
	return key
}

// recordedPatterns are those of the plan that the campaign began with; none if
// this version cannot read it.
func (c *Campaign) recordedPatterns() []plan.Pattern {
	p, err := c.recordedPlan()
	if err != nil {
		return nil
	}
	return p.AllPatterns()
}

// Close releases the campaign. The journal needs no more writing.
func (c *Campaign) Close() error {
	if c.journal == nil {
		return nil
	}
	err := errors.Join(c.journal.Close(), c.lock.Release())
	c.journal, c.lock = nil, nil
	return err
}

// JournalName is where the journal is: the path of its file.
func (c *Campaign) JournalName() string { return c.name }

// documents gives visit those results of the journal that have one of the
// identities, in
// the order in which they were measured.
func (c *Campaign) documents(ids map[string]bool, visit func(*measure.Result) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.journal.Read(func(rec journal.Record) error {
		for _, finished := range append(rec.Group, rec) {
			if finished.Result == nil || !ids[finished.Result.ID] {
				continue
			}
			res, err := finished.Result.Result()
			if err != nil {
				return journal.Failure("journal.read_result", c.name, err)
			}
			if err := visit(res); err != nil {
				return err
			}
		}
		return nil
	})
}

// Done and Failed count the trials that have a result, and those whose newest
// result is an error.
func (c *Campaign) Done() (done, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.outcomes.of), c.outcomes.failed
}

// resultIDs are the identities of all results in the journal, in its order.
func (c *Campaign) resultIDs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.results)
}

// outcome is what a trial left, if it left something.
func (c *Campaign) outcome(k plan.TrialKey) (outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcomes.get(k)
}

// moved is the payload that trials moved so far.
func (c *Campaign) moved() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Entry is what the store keeps of the campaign, with its plan as it is now.
func (c *Campaign) Entry() store.Campaign {
	c.mu.Lock()
	defer c.mu.Unlock()
	done, failed := len(c.outcomes.of), c.outcomes.failed
	e := store.Campaign{
		ID: c.Record.ID, Name: c.Record.Name, Title: c.Plan.Title, StartedAt: c.StartedAt, Plan: cmp.Or(string(c.Plan.Text), c.Record.Text),
		Seed: c.Record.Seed, Patterns: max(c.Record.Patterns, len(c.Plan.AllPatterns())), Trials: c.trials, Done: done, Failed: failed,
	}
	if done == c.trials {
		e.FinishedAt = c.finished
	}
	return e
}

// write appends records to the journal and takes them into account.
func (c *Campaign) write(records ...journal.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.journal.Append(records...); err != nil {
		return err
	}
	for _, rec := range records {
		if err := c.learn(rec); err != nil {
			return err
		}
	}
	return nil
}

// nextSession is the session of a run that starts now.
func (c *Campaign) nextSession(now time.Time) measure.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return measure.Session{ID: measure.NewResultID(now), Number: c.sessions + 1}
}

// planRounds is how many rounds the plan had when the campaign last went on with more of them.
func (c *Campaign) planRounds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.Plan.Rounds, c.raised)
}
