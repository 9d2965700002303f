package iperf3

import (
	"io"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/servertest"
	"soku/test/tier"
)

func TestASilentClientTimesOut(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{}, func(h *handler) { h.streamWait = 200 * time.Millisecond })
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.CreateStreams)
	x.refusedWith(wire.CodeStreamAccept) // it opens no streams
	s.Idle()
}

// The end may reach the server while its receivers still prepare.
func TestATestThatEndsBeforeItsFirstByteHasAResult(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	for _, protocol := range []string{"tcp", "udp"} {
		var ended []*raw
		for range 20 {
			x := newRaw(s)
			x.asks(`{"` + protocol + `":true,"omit":0,"time":10,"parallel":1,"len":1000}`)
			x.hears(wire.CreateStreams)
			x.stream(protocol)
			x.hears(wire.TestStart, wire.TestRunning)
			if err := wire.WriteState(x, wire.TestEnd); err != nil {
				t.Fatal(err)
			}
			ended = append(ended, x)
		}
		for _, x := range ended {
			_ = x.SetDeadline(time.Now().Add(servertest.Prompt))
			x.hears(wire.ExchangeResults)
			_ = x.Close()
		}
		s.Idle()
	}
}

func TestATestIsServedNoLongerThanTheServerAllows(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	limit := measure.Duration(time.Second)
	s := serve(t, server.Config{MaxDuration: limit}, Config{})
	var clients []*raw
	for _, ask := range []string{
		`{"tcp":true,"omit":0,"time":1,"parallel":1,"len":1000}`,
		`{"tcp":true,"omit":0,"time":1,"parallel":1,"len":1000,"reverse":true}`,
	} {
		x := newRaw(s)
		x.asks(ask)
		x.hears(wire.CreateStreams)
		stream := x.dial()
		x.hears(wire.TestStart, wire.TestRunning)
		go func() { _, _ = io.Copy(io.Discard, stream) }()
		go func() {
			for _, err := stream.Write(make([]byte, 1000)); err == nil; _, err = stream.Write(make([]byte, 1000)) {
				time.Sleep(10 * time.Millisecond)
			}
		}()
		_ = x.SetDeadline(time.Now().Add(server.LongestServed(limit) + servertest.Prompt))
		clients = append(clients, x)
	}
	for _, x := range clients {
		x.refusedWith(wire.CodeMaxDuration)
	}
	s.Idle()
}

// Clients of iperf3 that move an amount know no limit of time, and are served until it is over.
func TestATestOfAnAmountIsEndedAfterTheServersLimit(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	limit := measure.Duration(200 * time.Millisecond)
	s := serve(t, server.Config{MaxDuration: limit}, Config{EndsAmounts: true})
	x := newRaw(s)
	x.asks(`{"tcp":true,"omit":0,"time":0,"num":1000000000000,"parallel":1,"len":1000}`)
	x.hears(wire.CreateStreams)
	x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	_ = x.SetDeadline(time.Now().Add(server.LongestServed(limit) + servertest.Prompt))
	x.refusedWith(wire.CodeMaxDuration)
	s.Idle()
}

func TestAServerThatStopsInformsItsIperf3Clients(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.CreateStreams)
	x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	go s.Stop()
	x.hears(wire.ServerTerminate)
}
