package connect

import (
	"net/netip"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Target is where connections go and what is done with each.
type Target struct {
	Addr     netip.AddrPort
	Preamble []byte // sent first on every connection; may be nil
	Await    bool   // wait until the far end has closed before closing
	Reset    bool   // close with a reset, which leaves no port in TIME_WAIT
}

// maker makes connections one after the other. It belongs to one goroutine, which is
// locked to its thread. The calls are connect, serve, close in this order; if connect
// returns another outcome than opened, the others are skipped.
type maker interface {
	// connect sets one connection up. start is just before the SYN is requested, end just
	// after the SYN-ACK was seen; both in ns of the run's clock.
	connect() (start, end int64, how outcome)
	// serve sends preamble and request, reads the reply, and waits for the far end's
	// close if the target says so.
	serve() outcome
	// close closes the connection as the target says.
	close()
}

// makers creates a maker; tests use both implementations.
type makers func(*run, int) (maker, error)

// clock counts ns since its start on the monotonic clock, without allocating.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(sock.Since(c.start)) }

// tick is the longest blocking call before the context is checked.
const tick = 40 * time.Millisecond

// sources returns the addresses to connect from; empty lets the system choose.
func sources(o measure.Options) ([]netip.Addr, error) {
	if own := OptionsOf(o); own.Sources != "" {
		return ParseSources(own.Sources)
	}
	if o.Bind == "" {
		return nil, nil
	}
	return ParseSources(o.Bind)
}
