package ethr

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"time"

	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
)

// test is one test of a client.
type test struct {
	Settings
	out  *output
	addr netip.AddrPort
	o    measure.Options
}

// measureAs makes the test that s names.
func measureAs(ctx context.Context, s Settings, out *output) error {
	t := &test{Settings: s, out: out}
	if err := t.find(ctx); err != nil {
		return err
	}
	out.say("Using destination: %s, ip: %s, port: %d", s.Host, t.addr.Addr(), s.Port)
	if t.Connections == 0 {
		t.Connections = runtime.NumCPU()
	}
	t.o = t.options()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if s.Duration > 0 && (s.Test == "l" || s.Test == "pi") {
		limited, cancel = context.WithTimeout(ctx, s.Duration)
	}
	defer cancel()
	var err error
	switch s.Test {
	case "l":
		err = t.latency(limited)
	case "pi":
		err = t.ping(limited)
	case "c":
		err = t.connections(ctx)
	default:
		err = t.bandwidth(ctx)
	}
	return out.done(ctx, s, err)
}

// find looks the host up.
func (t *test) find(ctx context.Context) error {
	network := "ip"
	if t.Version != 0 {
		network += strconv.Itoa(t.Version)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, network, t.Host)
	if err != nil || len(found) == 0 {
		return measure.Errorf(measure.KindUnreachable, "find the address of %s: %v", t.Host, err).WithHint("check the name")
	}
	t.addr = netip.AddrPortFrom(found[0].Unmap(), uint16(t.Port))
	return nil
}

// kind is the test as soku has it.
func (t *test) kind() measure.Test {
	switch {
	case t.Test == "l":
		return measure.TestLatency
	case t.Test == "c":
		return measure.TestConnect
	case t.Protocol == "UDP":
		return measure.TestUDP
	}
	return measure.TestTCP
}

// options are the test's in soku's words. They are not checked as those of soku's own
// command line are: Ethr has other bounds.
func (t *test) options() measure.Options {
	o := measure.Defaults(t.kind())
	o.Via, o.Port, o.TOS, o.Duration = measure.ViaEthr, t.Port, t.TOS, measure.Duration(t.Duration)
	o.ConnectTimeout = measure.Duration(5 * time.Second)
	if t.Bind.IsValid() {
		o.Bind = t.Bind.String()
	}
	if t.Test != "l" {
		o.Streams = t.Connections
	}
	if t.Test == "b" || t.Test == "p" {
		o.Rate = measure.Rate(min(t.Rate, 1<<50) * uint64(t.Connections))
	}
	switch t.kind() {
	case measure.TestTCP:
		o.Length = measure.Size(min(t.Length, 1<<20))
		if t.Reverse {
			o.Direction = measure.Reverse
		}
	case measure.TestUDP:
		o.Size = measure.Size(t.Length)
	case measure.TestLatency:
		o.Size, o.Row = measure.Size(t.Length), int64(t.Rounds)
	}
	return o
}

// part is how long an engine runs at a time where a test has no end, because what it
// keeps of one grows.
const part = 10 * time.Minute

// bandwidth moves bytes or datagrams.
func (t *test) bandwidth(ctx context.Context) error {
	session, err := ethr.Open(ctx, t.addr.String(), wire.Request{Test: t.kind(), Options: t.o}, wire.Hooks{})
	if err != nil {
		return err
	}
	defer session.Close()
	conns, streams, err := t.open(ctx, session)
	if err != nil {
		return err
	}
	table := t.table(conns)
	if err := session.Start(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		manner, stop := session.Manner(), context.CancelFunc(func() {})
		if t.Duration == 0 {
			var over context.Context
			over, stop = context.WithTimeout(context.Background(), part)
			manner.Over = over.Done()
		}
		switch {
		case t.Protocol == "UDP":
			_, err = udp.SendIn(ctx, manner, conns, t.o, t.o.Direction, table.second)
		case t.Reverse:
			_, err = tcp.ReceiveIn(ctx, manner, streams, t.o, t.o.Direction, table.second)
		default:
			_, err = tcp.SendIn(ctx, manner, streams, t.o, t.o.Direction, table.second)
		}
		stop()
		if err != nil || t.Duration > 0 {
			return err
		}
		table.next()
	}
	return context.Cause(ctx)
}

// open opens the connections of a test of bandwidth or packets; of TCP both lists
// hold the same.
func (t *test) open(ctx context.Context, session wire.Session) (conns []net.Conn, streams []*net.TCPConn, err error) {
	if t.Protocol == "UDP" {
		conns, err = session.UDP(ctx)
		return conns, nil, err
	}
	streams, err = session.TCP(ctx)
	for _, c := range streams {
		conns = append(conns, c)
	}
	return conns, streams, err
}
