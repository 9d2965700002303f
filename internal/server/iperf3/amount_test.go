package iperf3

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
)

// A client since 3.17 looks once a second whether it has its amount. What comes meanwhile
// beyond that is in its figures.
func TestTheServerSendsTheAmountAndNoMore(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, c := range map[string]struct {
		json             string
		forward, streams int
		want             int64
	}{
		"bytes":             {`{"tcp":true,"num":5242880,"blockcount":0,"time":0,"parallel":1,"len":131072,"reverse":true}`, 0, 1, 5242880},
		"bytes, 4 streams":  {`{"tcp":true,"num":5242880,"blockcount":0,"time":0,"parallel":4,"len":131072,"reverse":true}`, 0, 4, 5242880},
		"a part of a block": {`{"tcp":true,"num":1000000,"blockcount":0,"time":0,"parallel":1,"len":131072,"reverse":true}`, 0, 1, 1048576},
		"blocks":            {`{"tcp":true,"num":0,"blockcount":100,"time":0,"parallel":1,"len":131072,"reverse":true}`, 0, 1, 13107200},
		"blocks, 4 streams": {`{"tcp":true,"num":0,"blockcount":100,"time":0,"parallel":4,"len":131072,"reverse":true}`, 0, 4, 13107200},
		"both directions":   {`{"tcp":true,"num":5242880,"blockcount":0,"time":0,"parallel":1,"len":131072,"bidirectional":true}`, 1, 2, 5242880},
		"at a rate":         {`{"tcp":true,"num":1000000,"blockcount":0,"time":0,"parallel":1,"len":1000,"reverse":true,"bandwidth":50000000}`, 0, 1, 1_000_000},
		"datagrams":         {`{"udp":true,"num":40000,"blockcount":0,"time":0,"parallel":1,"len":1000,"reverse":true}`, 0, 1, 40_000},
		"blocks of UDP":     {`{"udp":true,"num":0,"blockcount":40,"time":0,"parallel":2,"len":1000,"reverse":true}`, 0, 2, 40_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, server.Config{}, Config{})
			x := newRaw(s)
			x.asks(c.json)
			x.hears(wire.CreateStreams)
			var conns []net.Conn
			for range c.streams {
				conns = append(conns, x.stream(c.json[2:5]))
			}
			x.hears(wire.TestStart, wire.TestRunning)
			for _, one := range conns[:c.forward] {
				_, _ = one.Write(make([]byte, 131072))
			}
			var n atomic.Int64
			var readers sync.WaitGroup
			for _, one := range conns[c.forward:] {
				readers.Go(func() {
					b := make([]byte, 128<<10)
					for {
						_ = one.SetReadDeadline(time.Now().Add(time.Second))
						k, err := one.Read(b)
						if n.Add(int64(k)) > 4*c.want || err != nil {
							return
						}
					}
				})
			}
			readers.Wait()
			if got := n.Load(); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
			_ = wire.WriteState(x, wire.TestEnd)
			x.hears(wire.ExchangeResults)
		})
	}
}

// A client that lacks datagrams never ends the test by itself.
func TestTheServerReplacesLostDatagramsOfAnAmount(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"udp":true,"num":40000,"blockcount":0,"time":0,"parallel":1,"len":1000,"reverse":true}`)
	x.hears(wire.CreateStreams)
	c := x.stream("udp")
	x.hears(wire.TestStart, wire.TestRunning)
	b := make([]byte, 2000)
	for n := 0; n < 42; n++ {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(b); err != nil {
			t.Fatalf("after %d datagrams: %v", n, err)
		}
	}
	_ = wire.WriteState(x, wire.TestEnd)
	x.hears(wire.ExchangeResults)
}
