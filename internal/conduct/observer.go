package conduct

import (
	"context"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/advice"
	"soku/internal/measure"
)

// Observer watches a campaign. Its methods are called by one goroutine at a time and must
// return within a few milliseconds.
type Observer interface {
	// Begun is called for each step of the beginning; the last one is [StepCampaign].
	Begun(b Beginning)
	// Trial is called for every event but samples: commands, trials, results, lost hosts.
	Trial(e campaign.Event)
	// Sample is called for every live interval of a trial ([campaign.EventProgress]).
	Sample(e campaign.Event)
	// Ended is called once, when no more trials run.
	Ended(e Ended)
}

// Step is a step of the beginning of a campaign.
type Step int

// Steps in the order in which they can occur.
const (
	StepResumed     Step = iota // Campaign goes on; Others of the same plan have trials left, too
	StepRefilled                // Results of the finished Campaign were missing in the store and were added
	StepLab                     // the network Lab is built
	StepHosts                   // Hosts, a number, are prepared by ssh
	StepHost                    // Host is prepared
	StepUnreachable             // Error is one of several failures of the check before the first trial
	StepAddress                 // the agents of a pair use another address than the best one; Error says which and why
	StepLeft                    // a new campaign begins although Campaign of the same plan has trials left
	StepCampaign                // Running begins; Estimate is what is selected of it
)

// Beginning is a step of the beginning and the members that its comment names.
type Beginning struct {
	Step         Step
	Campaign     string // identity
	Others       []string
	Left, Trials int // of Campaign, for StepLeft
	Results      int
	Lab          string
	Hosts        int
	Host         Prepared
	Error        *measure.Error
	Running      *campaign.Campaign
	Estimate     advice.Estimate
}

// Prepared is a host that was prepared by ssh.
type Prepared struct {
	Name, Platform      string
	Copied              bool          // the program was copied, not found there
	Duration            time.Duration // of the preparation
	Port                int           // of the server there, or 0
	PortTaken           int           // the port that the server would have had if it were free, or 0
	Offset, Uncertainty time.Duration // of the clock there; positive if it is ahead
	ClockOff            bool          // the offset surely exceeds one second
}

// Ended is the end of a run.
type Ended struct {
	Campaign *campaign.Campaign
	Outcome  campaign.Outcome
	Err      error // as [Session.Run] returns it
}

// Questions asks a person.
type Questions interface {
	// SetLevels asks a person to make a change, and returns when they confirm it: the user of a hub who
	// did, or "" for the user of this process at its terminal. It returns an error if ctx ends or no answer can come.
	SetLevels(context.Context, campaign.HandChange) (person string, err error)
}

// silent is the observer of a caller that has none.
type silent struct{}

func (silent) Begun(Beginning)       {}
func (silent) Trial(campaign.Event)  {}
func (silent) Sample(campaign.Event) {}
func (silent) Ended(Ended)           {}
