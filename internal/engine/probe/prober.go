package probe

import (
	"net/netip"
	"time"

	"soku/internal/measure"
)

// Answer is what came back for one probe.
type Answer struct {
	Flow   int
	Number uint16
	// Vague answers are to a probe of the flow whose number is not in what came back.
	Vague  bool
	Kind   Kind
	From   netip.Addr
	Reason string              // of Blocked, in words
	MTU    int                 // bytes; of TooBig, 0 where the node did not say
	Labels []measure.MPLSLabel // of Expired
	At     time.Time           // by the kernel's stamp where there is one
}

// Config is what a prober sends, and to where. Options that count are Probe, Port,
// Bind, Device, TOS and Timeout; they are effective.
type Config struct {
	What    string // the test, for errors
	Target  netip.Addr
	Options measure.Options
	Flows   int // 1 to 64
	// Alone asks for sockets that answer for a probe by what it carries and not by
	// its headers: those of ordinary users.
	Alone bool
}

// Prober sends probes and receives their answers. One goroutine uses it.
type Prober interface {
	// Send hands one probe to the kernel. size is of the whole IP packet in bytes,
	// 0 for the shortest; it leaves unfragmented or not at all ([ErrTooLong]). number
	// is 1 to 65534 and not in use.
	Send(flow, hop int, number uint16, size int) error
	// Receive waits for answers, at most that long, and hands each to take.
	Receive(wait time.Duration, take func(Answer)) error
	// Forget says that the answer to a probe is not waited for any more.
	Forget(number uint16)
	// Serial reports whether a flow can have only one probe under way.
	Serial() bool
	// Port is the source port, or the identifier, of a flow.
	Port(flow int) int
	// Local is the address that probes leave from.
	Local() netip.Addr
	// Foreign counts the errors about packets that were none of the probes.
	Foreign() int64
	Close()
	// Timing is the kind of socket and who takes the times.
	Timing() measure.Timing
}

// Numbers of probes.
const (
	FirstNumber = 1
	LastNumber  = 0xfffe
)
