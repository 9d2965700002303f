package ping

import (
	"context"
	"net/netip"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

const (
	floorTime    = 200 * time.Millisecond // maximum in total
	floorRun     = 150 * time.Millisecond // of sending
	floorSpacing = 5 * time.Millisecond   // maximum
	floorTimeout = 50 * time.Millisecond
)

// Floor pings this host's loopback with the same payload size, to measure what the tool
// and the system add to every round trip. A processor that slept between two requests
// answers more slowly, so it keeps o.Spacing, up to 5 ms. It takes at most 200 ms. Errors
// are those of [Run].
func Floor(ctx context.Context, o measure.Options, v6 bool) (*measure.FloorReading, error) {
	ctx, cancel := context.WithTimeout(ctx, floorTime)
	defer cancel()
	target := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if v6 {
		target = netip.IPv6Loopback()
	}
	f := measure.Options{
		Size: o.Size, Duration: measure.Duration(floorRun), Interval: measure.Duration(time.Second),
		Own: Options{Spacing: min(spacingOf(o), measure.Duration(floorSpacing))}, Timeout: measure.Duration(floorTimeout),
	}
	s, err := open(target, f)
	if err != nil {
		return nil, err
	}
	defer s.close()
	l, err := newPinger(s, target, f).run(ctx, nil)
	if l.Received == 0 {
		if err == nil {
			err = measure.Fail(measure.KindUnreachable, "ping.loopback", measure.Figures{"target": target.String()})
		}
		return nil, err
	}
	// On a busy host the time may run out; what was measured by then is the floor.
	timing := s.timing()
	return &measure.FloorReading{RTT: *l.Histogram.Percentiles(), Clock: sock.ClockSource, Timing: &timing}, nil
}
