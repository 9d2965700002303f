package probe

import (
	"net/netip"
	"time"

	"soku/internal/measure"
)

// Answer is the answer to one probe.
type Answer struct {
	Flow   int
	Number uint16
	// Vague answers are to some probe of the flow: they do not contain its number.
	Vague  bool
	Kind   Kind
	From   netip.Addr
	Reason measure.Reason      // of Blocked
	MTU    int                 // bytes; of TooBig, 0 if not reported
	Labels []measure.MPLSLabel // of Expired
	At     time.Time           // the kernel's time stamp if there is one
}

// Config configures a prober. It uses the options Probe, Port, Bind, Device, TOS and
// Timeout; they are effective.
type Config struct {
	What    string // the test, for errors
	Target  netip.Addr
	Options measure.Options
	Flows   int // 1 to 64
	// Alone asks for sockets that match answers to a probe by its payload and not by its
	// headers: those of ordinary users.
	Alone bool
}

// Prober sends probes and receives their answers. One goroutine uses it.
type Prober interface {
	// Send sends one probe. size is that of the whole IP packet in bytes, 0 for the
	// shortest; it is sent unfragmented, or the error is [ErrTooLong]. number is 1 to
	// 65534 and not in use.
	Send(flow, hop int, number uint16, size int) error
	// Receive waits for answers, for up to wait, and calls take with each.
	Receive(wait time.Duration, take func(Answer)) error
	// Forget ends the wait for the answer to a probe.
	Forget(number uint16)
	// Serial reports whether a flow can have only one outstanding probe.
	Serial() bool
	// Port returns the source port, or the identifier, of a flow.
	Port(flow int) int
	// Local returns the source address of probes.
	Local() netip.Addr
	// Foreign returns the number of errors about packets that were not probes.
	Foreign() int64
	Close()
	// Timing returns the kind of socket and the clock that takes the times.
	Timing() measure.Timing
}

// Numbers of probes.
const (
	FirstNumber = 1
	LastNumber  = 0xfffe
)
