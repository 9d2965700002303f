package latency

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

const (
	floorTime = 200 * time.Millisecond // at most, all together
	floorRun  = 150 * time.Millisecond // of measuring, where no message is held
	floorOmit = time.Millisecond       // of warming up
	floorPath = time.Millisecond       // the longest that is imitated: both ends are asleep by then

	// An open-loop floor needs enough requests for a figure and must not
	// saturate loopback, which would show queueing instead of the tool.
	floorRateMin, floorRateMax = 2500, 10_000
)

// Floor measures with the same protocol, message size and loop on 127.0.0.1
// inside this process: what the tool and the system add to every round trip.
//
// path is about how long a round trip takes on the path that it is for, 0 for
// none. On it each end waits for about that long between two of its messages and
// falls asleep, and waking up is a good part of what a host adds. So a closed
// loop's messages are held for that long, 1 ms at most, before they leave, while
// the clock stands still.
//
// It takes 200 ms at most. Errors are of [measure.KindUnreachable] where there is no loopback, else as of [Run].
func Floor(ctx context.Context, o measure.Options, path time.Duration) (*measure.FloorReading, error) {
	if near, leave := maySpin(o.Spin); near {
		defer leave()
		if far, leave := maySpin(o.Spin); far {
			defer leave()
			return floor(ctx, o, 0, openFor(true)) // nobody falls asleep
		}
	}
	return floor(ctx, o, path, openShared)
}

func floor(ctx context.Context, o measure.Options, path time.Duration, open linker) (*measure.FloorReading, error) {
	// Now, rather than while it measures: threads that collect share its processors.
	runtime.GC()
	ctx, cancel := context.WithTimeout(ctx, floorTime)
	defer cancel()
	near, far, err := pair(ctx, o.Protocol, o.Multipath)
	if err != nil {
		return nil, measure.Errorf(measure.KindUnreachable, "connect to 127.0.0.1 for the floor: %w", err).
			WithHint("is the loopback interface up?")
	}
	defer near.Close()
	defer far.Close()

	o = floorOptions(o)
	var held atomic.Int64
	if hold := min(path, floorPath); o.RequestRate == 0 && hold > 0 { // an open loop's schedule would be late
		open = holding(open, hold, &held)
	}
	echoed := make(chan struct{})
	go func() {
		defer close(echoed)
		_, _ = echo(ctx, far, echoOptions{Options: o}, alongside(open, o)) // near sees what breaks it
	}()
	defer func() { cancel(); <-echoed }()

	c, err := newClient([]net.Conn{near}, o)
	if err != nil {
		return nil, err
	}
	c.attach(open)
	defer c.release()
	c.clock.held = &held
	l, err := c.run(ctx, nil)
	if l == nil || l.Received == 0 {
		return nil, err
	}
	// The time may run out on a busy host: what was measured by then is the floor.
	timing := c.link.timing()
	return &measure.FloorReading{RTT: *l.Histogram.Percentiles(), Clock: sock.ClockSource, Timing: &timing}, nil
}

// holding makes links that hold each message before it leaves, as if it were on
// its way. held counts the ns for which they did. One goroutine reads and writes.
func holding(open linker, hold time.Duration, held *atomic.Int64) linker {
	return func(conn net.Conn, tick time.Duration, threads int) link {
		return &holdingLink{link: open(conn, tick, threads), hold: hold, held: held}
	}
}

type holdingLink struct {
	link
	hold   time.Duration
	held   *atomic.Int64
	midway bool // what is written next belongs to a message that was held already
}

func (l *holdingLink) write(b []byte) (int, error) {
	if !l.midway && l.hold > 0 {
		begin := sock.Now()
		pace.Sleep(l.hold)
		l.held.Add(int64(sock.Since(begin)))
	}
	l.midway = true
	return l.link.write(b)
}

func (l *holdingLink) read(b []byte) (int, error) {
	n, err := l.link.read(b)
	l.midway = false
	return n, err
}

// alongside opens the echo's link knowing that an open loop's threads are in the
// same process.
func alongside(open linker, o measure.Options) linker {
	return func(conn net.Conn, tick time.Duration, threads int) link {
		if o.RequestRate > 0 {
			threads += threadsOpen - 1
		}
		return open(conn, tick, threads)
	}
}

// floorOptions keeps what shapes a round trip and sets how long it goes on.
func floorOptions(o measure.Options) measure.Options {
	f := measure.Options{
		Protocol: o.Protocol, Size: o.Size, Row: 1000, Omit: measure.Duration(floorOmit),
		Duration: measure.Duration(floorRun), Timeout: measure.Duration(50 * time.Millisecond),
		Interval: measure.Duration(time.Second), Stamps: o.Stamps, Arrivals: o.Arrivals, Seed: o.Seed,
	}
	if o.RequestRate > 0 {
		f.RequestRate = min(max(o.RequestRate, floorRateMin), floorRateMax)
	}
	return f
}

// pair is two connected sockets on loopback.
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
		_ = far.Close() // somebody else found the port
	}
}

// datagramPair binds two sockets and connects each to the other. The near one
// must be opened twice to learn both ports first; somebody may take its port
// in between, so it is tried a few times.
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
