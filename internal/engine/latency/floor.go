package latency

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"soku/internal/engine/latency/direct"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

const (
	floorTime = 100 * time.Millisecond // maximum in total
	// floorLate is the maximum of a second attempt, on a host so busy that the first had no reply.
	floorLate = 200 * time.Millisecond
	// floorRun is the time to measure, delays included unless the host is busy. Processors wake up
	// later in a longer one, as in a trial: after 40 ms the median was two thirds of that of a trial.
	floorRun  = 75 * time.Millisecond
	floorOmit = time.Millisecond // warm-up
	floorMost = 300              // round trips: more do not move a median
	floorPath = time.Millisecond // longest delay that is imitated: both ends sleep by then
	// floorSleep is how late the kernel may end a sleep: a delay that is not longer is not imitated.
	floorSleep = 50 * time.Microsecond

	// The rate of an open loop: enough requests for a figure, but too few to
	// saturate loopback, which would measure queueing instead of the tool.
	floorRateMin, floorRateMax = 2500, 10_000
)

// Floor measures with the same protocol, message size and loop on 127.0.0.1 inside this
// process: what the tool and the system add to every round trip.
//
// path is the approximate round trip time of the path to compare with, 0 for none. On
// that path each end waits about that long between two messages and falls asleep, and the
// wake-up is a large part of what a host adds. So each message of a closed loop is
// delayed by that time, if it is more than 50 us and at most 1 ms, before it is sent, while the
// clock is stopped.
//
// It takes about 75 ms, for 15 to 300 round trips; at most 100 ms on a busy host, and up to 200 ms more on
// a host so busy that none came back in that time. It fails with [measure.KindUnreachable] if
// there is no loopback, otherwise as [Run] does.
func Floor(ctx context.Context, o measure.Options, path time.Duration) (*measure.FloorReading, error) {
	spin := OptionsOf(o).Spin
	if near, leave := maySpin(spin); near {
		defer leave()
		if far, leave := maySpin(spin); far {
			defer leave()
			return floor(ctx, o, 0, openFor(true)) // spinning ends do not sleep
		}
	}
	return floor(ctx, o, path, openShared)
}

// FloorConditions are what [Floor] depends on: a reading is reused for trials on the
// host with equal ones. The time that messages are delayed counts within a factor of two.
func FloorConditions(o measure.Options, path time.Duration) string {
	own, f := OptionsOf(o), floorOptions(o)
	hold := time.Duration(1) << bits.Len64(uint64(floorDelay(o, path)))
	return fmt.Sprintf("latency %s %d spin %s stamps %s rate %g %s mptcp %t hold %s", own.Protocol, o.Size, own.Spin, own.Stamps, f.RequestRate, own.Arrivals, o.Multipath, hold)
}

func floor(ctx context.Context, o measure.Options, path time.Duration, open linker) (*measure.FloorReading, error) {
	return twice(ctx, func(limit time.Duration) (*measure.FloorReading, error) {
		return floorWithin(ctx, limit, o, path, open)
	})
}

// twice measures once more, for longer, where no round trip came back in time.
func twice(ctx context.Context, measured func(limit time.Duration) (*measure.FloorReading, error)) (*measure.FloorReading, error) {
	f, err := measured(floorTime)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return measured(floorLate)
	}
	return f, err
}

func floorWithin(ctx context.Context, limit time.Duration, o measure.Options, path time.Duration, open linker) (*measure.FloorReading, error) {
	// Now and not while it measures: garbage collection would use its processors.
	runtime.GC()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	near, far, err := pair(ctx, OptionsOf(o).Protocol, o.Multipath)
	if err != nil {
		return nil, measure.Fail(measure.KindUnreachable, "latency.floor", measure.Figures{"cause": err})
	}
	defer near.Close()
	defer far.Close()

	hold := floorDelay(o, path)
	o = floorOptions(o)
	if hold > 0 {
		o.Count = min(floorMost, int64(floorRun/(2*(hold+2*floorSleep))))
	}
	var held atomic.Int64
	if hold > 0 {
		open = holding(open, hold, &held)
	}
	echoed := make(chan struct{})
	go func() {
		defer close(echoed)
		_, _ = echo(ctx, far, echoOptions{Options: o}, alongside(open, o)) // near returns the error
	}()
	defer func() { cancel(); <-echoed }()

	c, err := newClient([]net.Conn{near}, o)
	if err != nil {
		return nil, err
	}
	c.attach(open)
	defer c.release()
	c.Clock.Held = &held
	l, err := c.run(ctx, nil)
	if l == nil || l.Received == 0 {
		return nil, err
	}
	// On a busy host the time may run out; what was measured by then is the floor.
	timing := c.link.Timing()
	return &measure.FloorReading{RTT: *l.Histogram.Percentiles(), Clock: sock.ClockSource, Timing: &timing}, nil
}

// floorDelay is how long each message is delayed: 0 for an open loop, whose schedule would be late,
// and where a round trip of the path is too short to be imitated by sleep.
func floorDelay(o measure.Options, path time.Duration) time.Duration {
	if o.RequestRate > 0 || path <= floorSleep {
		return 0
	}
	return min(path, floorPath)
}

// holding returns links that delay each message before they send it, as if it were on a
// path. held counts the delay in ns. One goroutine reads and writes.
func holding(open linker, hold time.Duration, held *atomic.Int64) linker {
	return func(conn net.Conn, tick time.Duration, threads int) direct.Link {
		return &holdingLink{Link: open(conn, tick, threads), hold: hold, held: held}
	}
}

type holdingLink struct {
	direct.Link
	hold   time.Duration
	held   *atomic.Int64
	midway bool // the next write continues a message that was already delayed
}

func (l *holdingLink) Write(b []byte) (int, error) {
	if !l.midway && l.hold > 0 {
		begin := sock.Now()
		pace.Sleep(l.hold)
		l.held.Add(int64(sock.Since(begin)))
	}
	l.midway = true
	return l.Link.Write(b)
}

func (l *holdingLink) Read(b []byte) (int, error) {
	n, err := l.Link.Read(b)
	l.midway = false
	return n, err
}

// alongside opens the echo's link for an open loop whose threads are in the same process.
func alongside(open linker, o measure.Options) linker {
	return func(conn net.Conn, tick time.Duration, threads int) direct.Link {
		if o.RequestRate > 0 {
			threads += threadsOpen - 1
		}
		return open(conn, tick, threads)
	}
}

// floorOptions keeps the options that influence a round trip and sets the duration.
func floorOptions(o measure.Options) measure.Options {
	own := OptionsOf(o)
	f := measure.Options{
		Size: o.Size, Omit: measure.Duration(floorOmit),
		Duration: measure.Duration(floorRun), Count: floorMost, Timeout: measure.Duration(50 * time.Millisecond),
		Interval: measure.Duration(time.Second),
		Own:      Options{Protocol: own.Protocol, Row: 1000, Stamps: own.Stamps, Arrivals: own.Arrivals, Seed: own.Seed},
	}
	if o.RequestRate > 0 {
		f.RequestRate = min(max(o.RequestRate, floorRateMin), floorRateMax)
	}
	return f
}

// pair returns two connected sockets on loopback.
func pair(ctx context.Context, protocol string, multipath bool) (near, far net.Conn, err error) {
	if protocol == "udp" {
		return datagramPair()
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(multipath)
	ln, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer ln.Close()
	var d net.Dialer
	d.SetMultipathTCP(multipath)
	if near, err = d.DialContext(ctx, "tcp4", ln.Addr().String()); err != nil {
		return nil, nil, err
	}
	for {
		if far, err = ln.Accept(); err != nil {
			_ = near.Close()
			return nil, nil, err
		}
		if far.RemoteAddr().String() == near.LocalAddr().String() {
			return near, far, nil
		}
		_ = far.Close() // a foreign connection to the port
	}
}

// datagramPair binds two sockets and connects each to the other. The near one is opened
// twice, to learn both ports first; another process may take its port in between, so it
// tries a few times.
func datagramPair() (near, far net.Conn, err error) {
	for range 3 {
		var holder *net.UDPConn
		if holder, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			return nil, nil, err
		}
		nearAddr := holder.LocalAddr().(*net.UDPAddr)
		if far, err = net.DialUDP("udp4", nil, nearAddr); err != nil {
			_ = holder.Close()
			return nil, nil, err
		}
		_ = holder.Close()
		if near, err = net.DialUDP("udp4", nearAddr, far.LocalAddr().(*net.UDPAddr)); err == nil {
			return near, far, nil
		}
		_ = far.Close()
	}
	return nil, nil, err
}
