package fleet

import (
	"time"

	"soku/internal/agent"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
)

// Version is the version of the protocol. An end takes messages of the version before and of the next one:
// members that it does not know are ignored.
const Version = 1

// Default times of the protocol.
const (
	BeatEvery = 5 * time.Second     // between two beats
	Silence   = 3 * BeatEvery       // without a beat: the hub takes the agent as away
	Answers   = 10 * time.Second    // how long each end waits for an answer
	JWTLasts  = 24 * time.Hour      // of an agent's permission; it is renewed at half of that
	ClockOff  = 5 * time.Minute     // a clock that differs by more is said, with both times
	Forget    = 30 * 24 * time.Hour // after which the hub leaves out an agent that never came again
)

// Hello is an agent that has connected.
type Hello struct {
	Version  int    `json:"version"`  // of the protocol
	Program  string `json:"program"`  // its version
	Instance string `json:"instance"` // drawn at each start of the process: two at one time are a cloned host
	Name     string `json:"name"`     // for people; not unique
	Platform string `json:"platform"` // as in linux/amd64
	UnixNs   int64  `json:"unix_ns"`  // the clock of the host

	Addresses []Address `json:"addresses,omitempty"` // by which others reach it, the announced ones first
	Policy    Policy    `json:"policy,omitzero"`
	Running   []string  `json:"running,omitempty"` // identities of the results of trials that run
	Spooled   []string  `json:"spooled,omitempty"` // identities of the results that wait to be taken
}

// Address is by what an agent can be reached.
type Address struct {
	Name    string `json:"name"`              // of the interface, or what --address said: "public"
	Address string `json:"address"`           // IP address, or a host name if it was announced
	Bound   string `json:"bound,omitempty"`   // the address of the interface that this leads to, where that is another
	Asked   bool   `json:"asked,omitempty"`   // --address said it
	Bits    int    `json:"bits,omitzero"`     // length of the prefix of the interface's network; 0: unknown
	LinkBps int64  `json:"link_bps,omitzero"` // rate of the interface, bit/s; 0: unknown
}

// Policy is what the owner of a host allows, enforced by the agent whatever the hub orders. The zero value
// of a member does not limit.
type Policy struct {
	Tests       []measure.Test   `json:"tests,omitempty"`         // empty: all
	RateBps     int64            `json:"rate_bps,omitempty"`      // of a trial, bit/s
	Duration    measure.Duration `json:"duration_ns,omitempty"`   // of a trial
	BytesPerDay int64            `json:"bytes_per_day,omitempty"` // sent and received
	To          []string         `json:"to,omitempty"`            // prefixes in CIDR form that may be sent to; empty: any
	Copies      bool             `json:"copies,omitempty"`        // copies of files are allowed
	Commands    bool             `json:"commands,omitempty"`      // commands of plans are allowed
}

// Welcome is the hub's answer to a [Hello].
type Welcome struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Hub     string `json:"hub"` // identity
	UnixNs  int64  `json:"unix_ns"`
	BeatNs  int64  `json:"beat_ns"` // how often a beat is expected
	// Error is why the agent is not wanted: another instance has its key, or it was revoked.
	Error *measure.Error `json:"error,omitempty"`
}

// Beat is the state of an agent.
type Beat struct {
	Instance     string   `json:"instance"`
	Number       int64    `json:"number"` // counts from 1 since the process began
	UnixNs       int64    `json:"unix_ns"`
	Running      []string `json:"running,omitempty"`
	Spooled      int      `json:"spooled,omitempty"`
	SpooledBytes int64    `json:"spooled_bytes,omitempty"`
	Full         bool     `json:"full,omitempty"` // the spool takes no more: no trial is begun
}

// Answer is what an end says to a request that has no answer of its own. No error: it is done.
type Answer struct {
	Error *measure.Error `json:"error,omitempty"`
}

// TrialOrder has an agent run a trial. The result has the identity that the spec says, which
// also makes the order idempotent: a trial that runs, or whose result is spooled, is not begun again.
type TrialOrder struct {
	Spec agent.Spec `json:"spec"`
	// Again is the SHA-256, in hexadecimal digits, of a document of this result that its campaign does not keep: the
	// agent deletes that document, if it has it, and runs the trial again.
	Again string `json:"again,omitempty"`
}

// TrialReport is what a running trial says, published below [UpTrial] and the identity of its result.
type TrialReport struct {
	Ready         bool              `json:"ready,omitempty"`           // it waits for [Start]
	Started       bool              `json:"started,omitempty"`         // its packets move
	StartDelayNs  int64             `json:"start_delay_ns,omitempty"`  // from when the order to start was read
	StartedUnixNs int64             `json:"started_unix_ns,omitempty"` // on the agent's clock
	Progress      *measure.Progress `json:"progress,omitempty"`
	Ended         bool              `json:"ended,omitempty"` // its result is in the spool
	// Error is why it ended without a result: the spool could not be written.
	Error *measure.Error `json:"error,omitempty"`
}

// Start lets a trial start that is ready.
type Start struct {
	Result   string `json:"result"`
	AtUnixNs int64  `json:"at_unix_ns,omitempty"` // on the agent's clock; 0: now
}

// Stop ends a trial. It has a result all the same, whose error is Error.
type Stop struct {
	Result string         `json:"result"`
	Error  *measure.Error `json:"error,omitempty"`
}

// CodeSpool is how the codes of refusals begin that an agent gives because its spool has no room now.
const CodeSpool = "daemon.spool."

// Serve has an agent run a server for trials of others until Until, or until another order with the same
// Name and no Server.
type Serve struct {
	Name   string           `json:"name"`
	Server *endpoint.Server `json:"server,omitempty"` // nil: end it
	Until  time.Time        `json:"until"`
}

// Served is a server that an agent runs.
type Served struct {
	endpoint.Listening
	Error *measure.Error `json:"error,omitempty"`
}

// Leave has an agent end its connection and not come again until its owner starts it again.
type Leave struct {
	Error *measure.Error `json:"error"`
}

// Header fields of a message with a document. The payload is its zstd form.
const (
	HeaderResult = "Soku-Result" // identity
	HeaderSHA256 = "Soku-Sha256" // of the payload, hexadecimal
)

// Receipt is the hub's answer to a document. The agent deletes what is kept or a conflict; of another
// error it tries again.
type Receipt struct {
	Result   string         `json:"result"`
	Kept     bool           `json:"kept,omitempty"`     // it is in the store, durable
	Conflict bool           `json:"conflict,omitempty"` // another document of this identity is there; this one is kept as a conflict
	Error    *measure.Error `json:"error,omitempty"`
}
