package server

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// run does a whole trial from the client's side with the real engines and
// returns the client's half and the server's.
func (r *running) run(ctx context.Context, test measure.Test, o measure.Options) (own, other *measure.End, err error) {
	session, err := native.Open(ctx, r.addr, r.request(test, o), wire.Hooks{})
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	o = session.Options()
	own = &measure.End{}
	var tcpConns []*net.TCPConn
	var udpConns []net.Conn
	if option.OverUDP(o, test) {
		udpConns, err = session.UDP(ctx)
	} else {
		tcpConns, err = session.TCP(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := session.Start(ctx); err != nil {
		return nil, nil, err
	}
	if test == measure.TestLatency {
		var conn net.Conn
		if udpConns != nil {
			conn = udpConns[0]
		} else {
			conn = tcpConns[0]
		}
		own.Latency, err = latency.Run(ctx, []net.Conn{conn}, o, engine.Flow{})
	} else {
		own.Flows, err = flows.Sockets.Run(ctx, flows.Client, flows.Conns{TCP: tcpConns, UDP: udpConns}, o, engine.Flow{})
	}
	if err != nil {
		return own, nil, err
	}
	other, err = session.Finish(ctx, nil)
	if err == nil && other.Error != nil {
		err = other.Error
	}
	return own, other, err
}

// count adds up what one end sent or received in a direction.
func count(end *measure.End, d measure.Direction) (bytes int64) {
	for _, f := range end.Flows {
		if f.Direction == d {
			for _, s := range f.Streams {
				bytes += s.SentBytes + s.ReceivedBytes
			}
		}
	}
	return bytes
}

func TestEveryTestEndToEndWithTheRealEngines(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	bothWays(t, func(t *testing.T, change func(*Server)) {
		t.Parallel()
		s := serveWith(t, Config{}, realEngines(), change)
		brief := measure.Duration(100 * time.Millisecond)
		for _, d := range measure.Directions() {
			for _, streams := range []int{1, 3} {
				t.Run(fmt.Sprintf("tcp %s %d streams", d, streams), func(t *testing.T) {
					o := options(measure.TestTCP, func(o *measure.Options) { o.Bytes, o.Direction, o.Streams = 3<<20, d, streams })
					own, other, err := s.run(t.Context(), measure.TestTCP, o)
					if err != nil {
						t.Fatal(err)
					}
					for _, flow := range d.Flows() {
						if a, b := count(own, flow), count(other, flow); a != b || a != 3<<20 {
							t.Errorf("%s: client %d bytes, server %d", flow, a, b)
						}
					}
					if other.Host == nil || other.Host.Counters == nil || other.Host.Counters.WallNs <= 0 {
						t.Errorf("no counters of the server: %+v", other.Host)
					}
				})
			}
			t.Run(fmt.Sprintf("udp %s", d), func(t *testing.T) {
				o := options(measure.TestUDP, func(o *measure.Options) { o.Duration, o.Direction, o.Streams = brief, d, 2 })
				own, other, err := s.run(t.Context(), measure.TestUDP, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, flow := range d.Flows() {
					// The handshake is no part of it, and nothing else came in.
					if a, b := count(own, flow), count(other, flow); a == 0 || b == 0 {
						t.Errorf("%s: client %d bytes, server %d", flow, a, b)
					}
				}
			})
		}
		t.Run("the series of the server", func(t *testing.T) {
			for _, on := range []string{measure.SeriesOn, measure.SeriesOff, ""} { // and from an older client
				o := options(measure.TestTCP, func(o *measure.Options) { o.Duration, o.Series = 3*brief, on })
				_, other, err := s.run(t.Context(), measure.TestTCP, o)
				if err != nil {
					t.Fatal(err)
				}
				v, err := other.Host.Series.Values()
				if on != measure.SeriesOn {
					if other.Host.Series != nil {
						t.Errorf("option %q: %d columns", on, len(v.Columns))
					}
					continue
				}
				if err != nil || len(v.AtNs) < 3 || runtime.GOOS == "linux" && (v.Columns["control.rtt_ns"] == nil || v.Columns["forward.0.receive_buffer_bytes"] == nil) {
					t.Errorf("moments %v, columns %v, %v", v.AtNs, v.Columns, err)
				}
			}
		})
		t.Run("tcp for a time", func(t *testing.T) {
			o := options(measure.TestTCP, func(o *measure.Options) { o.Duration = brief })
			own, other, err := s.run(t.Context(), measure.TestTCP, o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := count(own, measure.Forward), count(other, measure.Forward); a == 0 || b == 0 {
				t.Errorf("client %d bytes, server %d", a, b)
			}
		})
		for _, protocol := range []string{"tcp", "udp"} {
			t.Run("latency "+protocol, func(t *testing.T) {
				o := options(measure.TestLatency, func(o *measure.Options) {
					o.Count = 50
					measure.EditOwn(o, func(own *latency.Options) { own.Protocol = protocol })
				})
				own, _, err := s.run(t.Context(), measure.TestLatency, o)
				if err != nil {
					t.Fatal(err)
				}
				if own.Latency == nil || own.Latency.Received < 45 {
					t.Errorf("got %+v", own.Latency)
				}
			})
		}
		s.free()
	})
}

func TestIPv6EndToEnd(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on loopback: %v", err)
	}
	_ = l.Close()
	for _, listen := range []string{"[::1]:0", ":0"} {
		bothWays(t, func(t *testing.T, change func(*Server)) {
			s := serveWith(t, Config{Listen: listen}, realEngines(), change)
			for _, host := range []string{"[::1]", "127.0.0.1"} {
				if listen != ":0" && host != "[::1]" {
					continue
				}
				s.addr = fmt.Sprintf("%s:%d", host, s.Addr().Port())
				for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
					o := options(test, func(o *measure.Options) { o.Duration = measure.Duration(100 * time.Millisecond) })
					if _, _, err := s.run(t.Context(), test, o); err != nil {
						t.Errorf("%s on %s: %v", test, s.addr, err)
					}
				}
			}
		})
	}
}

func TestUDPAnswersFromTheAddressThatWasAsked(t *testing.T) {
	if !demuxInKernel {
		t.Skip("the answering address is chosen by the system here")
	}
	s := serveWith(t, Config{Listen: ":0"}, realEngines())
	s.addr = fmt.Sprintf("127.0.0.9:%d", s.Addr().Port())
	o := options(measure.TestUDP, func(o *measure.Options) { o.Duration = measure.Duration(100 * time.Millisecond) })
	o.Bind = "127.0.0.1" // the server would answer this one from 127.0.0.1 by itself
	if _, _, err := s.run(t.Context(), measure.TestUDP, o); err != nil {
		t.Error(err)
	}
}

func TestTwoHundredClientsAtOnceAllGetAResult(t *testing.T) {
	tier.SpendsSeconds(t)
	const clients = 200
	s := serveWith(t, Config{MaxClients: clients}, realEngines())
	var peak atomic.Uint64
	watch, stop := context.WithCancel(t.Context())
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse+m.StackInuse))
			select {
			case <-watch.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	o := options(measure.TestTCP, func(o *measure.Options) { o.Bytes = 1 << 20 })
	o.ConnectTimeout = measure.Duration(30 * time.Second)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			own, other, err := s.run(t.Context(), measure.TestTCP, o)
			switch {
			case err != nil:
				t.Errorf("client %d: %v", i, err)
			case count(own, measure.Forward) != 1<<20 || count(other, measure.Forward) != 1<<20:
				t.Errorf("client %d: %d and %d bytes", i, count(own, measure.Forward), count(other, measure.Forward))
			}
		})
	}
	wg.Wait()
	stop()
	watcher.Wait()
	s.free()
	// Both ends run in this process.
	t.Logf("peak of memory in use: %d MB", peak.Load()>>20)
	if peak.Load() > 500<<20 {
		t.Errorf("%d MB", peak.Load()>>20)
	}
}
