package agent

import (
	"cmp"
	"context"
	"time"

	"soku/internal/certificate"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Place is where trials run. It is safe for concurrent use.
type Place interface {
	// Run runs one trial. It always returns a result, whose Error says what went
	// wrong. Ending ctx ends the trial within 100 ms, and the Error of a trial that
	// was ended so is the cause of ctx.
	Run(ctx context.Context, s Spec, h Hooks) *measure.Result
}

// Hooks are how a running trial reports. Each is called from one goroutine at a
// time, and none after Run has returned; all but Ready must return within a few
// milliseconds. Each may be nil.
type Hooks struct {
	// Progress gets the live intervals of the trial.
	Progress measure.Observer
	// Ready is called once, when the trial has only to start: its session is open
	// and its connections stand. The trial starts at the instant that Ready returns, immediately if
	// that is zero, and fails with the error that it returns otherwise. So several trials start
	// together: Ready of each waits for all of them. lead is how long before the instant it has to return, 0 to 5 s; one
	// that gets the order too late fails: see [Late]. ctx ends when the trial can no longer start.
	Ready func(ctx context.Context, lead time.Duration) (at time.Time, err error)
	// Started is called once, of a trial with a hook Ready, after its packets began to
	// move, if the trial is on another host perhaps only when it has ended: at which moment they did, on the clock of this process, known within ±
	// uncertainty. That is 0 on this machine, and for another one half of the round trip between the two.
	Started func(at time.Time, uncertainty time.Duration)
}

// Spec is a trial to run. It is also a line of [Schema].
type Spec struct {
	Schema  string           `json:"schema"`
	Test    measure.Test     `json:"test"`
	Options measure.Options  `json:"options"` // as planned; not yet effective
	Host    string           `json:"host"`
	Client  measure.Endpoint `json:"client"`
	Server  measure.Endpoint `json:"server"`
	Trial   measure.Trial    `json:"trial"`
	Result  string           `json:"result_id,omitempty"` // identity of the result; empty: the trial makes one
	Access  Access           `json:"access,omitzero"`
	// Baselines are loopback baselines of earlier trials of the client; see [trial.Spec].
	Baselines []measure.FloorReading `json:"baselines,omitempty"`
	// AwaitStart has the process that runs the trial say when it is ready, and then
	// wait for the signal to start. Process sets it where there is a hook Ready.
	AwaitStart  bool `json:"await_start,omitempty"`
	Acknowledge bool `json:"acknowledge,omitempty"` // the child reports that it has read this
}

// Access is how servers are entered. It travels on the child's input, never on
// a command line that others can see.
type Access struct {
	Token string `json:"token,omitempty"`
	TLS   bool   `json:"tls,omitempty"`
	TLSCA string `json:"tls_ca,omitempty"` // PEM
	// Certificate is that of the server, which speaks TLS, whatever TLS says: no other is accepted. Empty: TLS decides.
	Certificate certificate.Pin `json:"certificate,omitempty"`
}

// NotRun is the result of a trial that measured nothing, because of err. It holds
// what is known before a trial.
func (s Spec) NotRun(now time.Time, err error) *measure.Result {
	o, optionsErr := option.Effective(s.Options, s.Test)
	if optionsErr != nil {
		o = s.Options
	}
	dir := o.Direction
	if dir == "" {
		dir = measure.Forward
	}
	t := s.Trial
	return &measure.Result{
		Schema: measure.Schema, ID: cmp.Or(s.Result, measure.NewResultID(now)), Tool: measure.Tool{Name: "soku"}, Test: s.Test, Trial: &t,
		StartedAt: now.UTC(), Options: o,
		Path:  measure.Path{Client: s.Client, Server: s.Server, Direction: dir},
		Error: measure.AsError(err, measure.KindBroken),
	}
}
