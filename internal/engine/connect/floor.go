package connect

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// floorTime is how long the floor is measured.
const floorTime = 150 * time.Millisecond

// FloorConditions are what [Floor] depends on: readings of equal conditions on one host can stand for
// each other.
func FloorConditions(o measure.Options) string { return fmt.Sprintf("connect ipv%d", o.IPVersion) }

// Floor measures what this host and this program add to a set-up: one connector against a
// listener of this process on loopback, of the family in o, closing with resets. o is
// effective.
func Floor(ctx context.Context, o measure.Options) (*measure.FloorReading, error) {
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if o.IPVersion == 6 {
		local = netip.IPv6Loopback()
	}
	own := measure.Options{Duration: measure.Duration(floorTime), Streams: 1, ConnectTimeout: o.ConnectTimeout}
	l, err := Listen(local, []netip.Addr{local}, own)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	l.Begin(ctx)
	serving, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(serving, nil)
	}()
	end, err := Run(ctx, Target{Addr: netip.AddrPortFrom(local, uint16(l.Port())), Reset: runtime.GOOS == "linux", Await: runtime.GOOS != "linux"}, own, nil, nil)
	stop()
	<-done
	if err != nil {
		return nil, err
	}
	return &measure.FloorReading{
		RTT: *end.Latency.Histogram.Percentiles(), Clock: sock.ClockSource, Timing: end.Latency.Timing,
	}, nil
}
