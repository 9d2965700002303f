package probe

import (
	"errors"
	"net/netip"
	"syscall"
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

// Nodes limit their ICMP errors (RFC 1812 section 4.3.2.8): Linux sends a burst of six to a host
// and then one a second (icmp(7), icmp_ratelimit).
const (
	// ErrorRefill is how long a node needs for one more error, a little less because answers are delayed.
	ErrorRefill = 980 * time.Millisecond
	// ErrorSpacing is the time between probes of which each is to be answered.
	ErrorSpacing = 1050 * time.Millisecond
)

// SendError explains why the system refused to send to target.
func SendError(what string, target netip.Addr, err error) error {
	switch {
	case errors.Is(err, syscall.EMSGSIZE):
		return measure.Fail(measure.KindUsage, "probe.too_long", measure.Figures{"test": what, "target": target.String(), "cause": err})
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return measure.Fail(measure.KindPermission, "probe.forbidden", measure.Figures{
			"test": what, "target": target.String(), "cause": err,
		})
	}
	return measure.Fail(measure.KindUnreachable, "probe.send", measure.Figures{
		"test": what, "target": target.String(), "cause": err,
	})
}
