package server

import (
	"cmp"
	"net"
	"strings"
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

// withoutMultipath skips a test on a host that has no Multipath TCP.
func withoutMultipath(t *testing.T) {
	t.Helper()
	if err := sock.HasMultipath(); err != nil {
		t.Skip(err)
	}
}

func TestTheServerSpeaksWhicheverTCPItsClientDoes(t *testing.T) {
	t.Parallel()
	withoutMultipath(t)
	s := serve(t, Config{})
	for _, wanted := range []bool{true, false} {
		var d net.Dialer
		d.SetMultipathTCP(wanted)
		c, err := d.DialContext(t.Context(), "tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if multipath, _ := sock.Multipath(c.(*net.TCPConn)); multipath != wanted {
			t.Errorf("Multipath TCP is %v, want %v", multipath, wanted)
		}
	}
}

func TestBothEndsCountTheSameBytesOverMultipath(t *testing.T) {
	tier.SpendsSeconds(t)
	withoutMultipath(t)
	s := serveWith(t, Config{}, realEngines())
	for _, o := range []measure.Options{
		{}, {Streams: 3}, {TX: "splice"}, {TX: "sendfile"}, {Rate: 400_000_000}, {Own: tcp.Options{Verify: true}}, {TOS: 8, Congestion: "reno", Window: 200_000, Own: tcp.Options{NoDelay: true, MSS: 1000}},
	} {
		for _, d := range measure.Directions() {
			asked := options(measure.TestTCP, func(e *measure.Options) {
				defaults := *e
				*e = o
				e.Duration, e.Interval, e.Length, e.Via, e.ConnectTimeout = defaults.Duration, defaults.Interval, defaults.Length, defaults.Via, defaults.ConnectTimeout
				e.Streams, e.Bytes, e.Direction, e.Multipath = max(o.Streams, 1), 3<<20, d, true
			})
			own, other, err := s.run(t.Context(), measure.TestTCP, asked)
			if err != nil {
				t.Errorf("%+v %s: %v", o, d, err)
				continue
			}
			for _, flow := range d.Flows() {
				if a, b := count(own, flow), count(other, flow); a != b || a != 3<<20 {
					t.Errorf("%+v %s: client %d bytes, server %d", o, flow, a, b)
				}
			}
			for _, f := range append(own.Flows, other.Flows...) {
				if f.Role == measure.Receiver && f.Path != "read" || f.Role == measure.Sender && f.Path != cmp.Or(o.TX, "write") {
					t.Errorf("%+v %s: the %s took %s", o, d, f.Role, f.Path)
				}
				if f.Role == measure.Sender && (f.Streams[0].TCP == nil || f.Streams[0].TCP.Subflows == 0) {
					t.Errorf("%+v %s: the sender is not of Multipath TCP: %+v", o, d, f.Streams[0].TCP)
				}
			}
		}
	}
}

func TestATimedTestOverMultipathEndsWithTheSameBytesAtBothEnds(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	withoutMultipath(t)
	s := serveWith(t, Config{}, realEngines())
	for _, d := range measure.Directions() {
		own, other, err := s.run(t.Context(), measure.TestTCP, options(measure.TestTCP, func(o *measure.Options) {
			o.Duration, o.Direction, o.Streams, o.Multipath = measure.Duration(300e6), d, 2, true
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, flow := range d.Flows() {
			if a, b := count(own, flow), count(other, flow); a != b || a == 0 {
				t.Errorf("%s: client %d bytes, server %d", flow, a, b)
			}
		}
	}
}

func TestLatencyOverMultipath(t *testing.T) {
	withoutMultipath(t)
	s := serveWith(t, Config{}, realEngines())
	for _, stamps := range []string{"auto", "split"} {
		own, _, err := s.run(t.Context(), measure.TestLatency, options(measure.TestLatency, func(o *measure.Options) {
			o.Count, o.Multipath = 200, true
			measure.EditOwn(o, func(own *latency.Options) { own.Stamps = stamps })
		}))
		if err != nil || own.Latency.Received < 200 {
			t.Errorf("stamps %s: %v, %+v", stamps, err, own)
		}
	}
}

func TestMultipathWithAMarkOverIPv6IsRefusedByName(t *testing.T) {
	tier.SpendsSeconds(t)
	withoutMultipath(t)
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	_, _, err := s.run(t.Context(), measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Multipath, o.TOS = true, 8 }))
	if err == nil || !strings.Contains(err.Error(), "IPV6_TCLASS") {
		t.Errorf("%v", err)
	}
}
