package connect

import (
	"net/netip"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Target is what connections go to and what is done with each.
type Target struct {
	Addr     netip.AddrPort
	Preamble []byte // sent first on every connection; nil for nothing
	Await    bool   // wait until the far end has closed before closing
	Reset    bool   // close with a reset, which leaves no port in TIME_WAIT
}

// maker makes connections one after the other. It belongs to one goroutine,
// which is locked to its thread. The order of calls is connect, serve, close;
// after an outcome other than opened of connect the rest is left out.
type maker interface {
	// connect sets one connection up. start is just before the SYN is asked
	// for, end just after the SYN-ACK was seen; both in ns of the run's clock.
	connect() (start, end int64, how outcome)
	// serve sends preamble and request, takes the reply, and waits for the far
	// end's close where the target says so.
	serve() outcome
	// close ends the connection as the target says.
	close()
}

// makers is how a maker is made; tests take either way.
type makers func(*run, int) (maker, error)

// clock counts ns since its start on the monotonic clock, without allocating.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(sock.Since(c.start)) }

// tick is how long a call may block before it looks at the context.
const tick = 40 * time.Millisecond

// sources are the addresses to connect from; empty leaves it to the system.
func sources(o measure.Options) ([]netip.Addr, error) {
	if o.Sources != "" {
		return measure.ParseSources(o.Sources)
	}
	if o.Bind == "" {
		return nil, nil
	}
	return measure.ParseSources(o.Bind)
}
