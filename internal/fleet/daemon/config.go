package daemon

import (
	"context"
	"os/exec"
	"time"

	"soku/internal/fleet"
	"soku/internal/text"
)

// Config is how an agent runs. Hub, Pin and Name may be empty where the agent has joined before.
type Config struct {
	Folder  string // of its state; one process at a time uses it
	Hub     string // address of the hub, as in https://hub:7660
	Pin     fleet.Pin
	Token   string // that admits it; needed once
	Name    string // for people; empty: the one that it had, or Host
	Host    string // name of this host
	Version string // of this program

	Addresses []fleet.Address // by which others reach this host, in addition to those of its interfaces
	Policy    Policy

	// Command makes a process of this program that dies with ctx: "trial" and "endpoint".
	Command func(ctx context.Context, args ...string) (*exec.Cmd, error)
	// Say gets a sentence of Catalogue for the log. It is called from one goroutine at a time.
	Say       func(sentence string)
	Catalogue *text.Catalogue

	times times
}

// times are the waits that tests shorten; 0 is the usual time.
type times struct {
	answer     time.Duration // for an answer of the hub; see [fleet.Answers]
	retry      time.Duration // before the first retry of anything
	retryMost  time.Duration // before later ones
	endTrials  time.Duration // for trials to end when the process does
	endResults time.Duration // for results to be taken when the process ends
}

// usual fills in the times that are 0.
func (t times) usual() times {
	for _, d := range []struct {
		p     *time.Duration
		usual time.Duration
	}{
		{&t.answer, fleet.Answers}, {&t.retry, time.Second}, {&t.retryMost, time.Minute},
		{&t.endTrials, 10 * time.Second}, {&t.endResults, 5 * time.Second},
	} {
		if *d.p == 0 {
			*d.p = d.usual
		}
	}
	return t
}
