package iperf3

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
)

func TestOlderClientsGetTheAnswerTheyKnow(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	for connect, want := range map[string]string{wire.UDPConnect: wire.UDPReply, wire.UDPConnectLegacy: wire.UDPReplyLegacy} {
		x := newRaw(s)
		x.asks(askUDP)
		x.hears(wire.CreateStreams)
		c, err := net.Dial("udp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = c.Write([]byte(connect))
		b := make([]byte, 100)
		if n, err := c.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v; want %q", b[:n], err, want)
		}
		_ = c.Close()
		_ = x.Close()
		s.Idle()
	}
}

func TestAClientOfIperf3GetsTheBurstsItAsksFor(t *testing.T) {
	const burst, bursts = 10, 9 // one every 50 ms
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"udp":true,"omit":0,"time":10,"parallel":1,"len":500,"reverse":true,"bandwidth":800000,"burst":10}`)
	x.hears(wire.CreateStreams)
	c := x.stream("udp")
	b := make([]byte, 2000)
	x.hears(wire.TestStart, wire.TestRunning)
	left := map[uint64]time.Duration{}
	for len(left) < burst*bursts {
		n, err := c.Read(b)
		number, sentNs, _, ok := wire.Datagrams(false).Parse(b[:n])
		if err != nil || !ok {
			t.Fatalf("%d bytes, %v", n, err)
		}
		left[number] = time.Duration(sentNs)
	}
	together := 0
	for k := range uint64(bursts) {
		if left[k*burst+burst-1]-left[k*burst] < 12*time.Millisecond {
			together++
		}
	}
	if together <= bursts/2 {
		t.Errorf("only %d of %d bursts were sent back to back", together, bursts)
	}
	// What was late is made up for at twice the rate at most.
	if d := left[burst*(bursts-1)] - left[0]; d < (bursts-1)*25*time.Millisecond {
		t.Errorf("%d bursts in %v", bursts, d)
	}
	_ = x.Close()
	s.Idle()
}

func TestAClientOfIperf3GetsTheRepeatingPayloadItAsksFor(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"repeating_payload":1}`)
	x.hears(wire.CreateStreams)
	stream := x.dial()
	x.hears(wire.TestStart, wire.TestRunning)
	b := make([]byte, 10_000)
	if _, err := io.ReadFull(stream, b); err != nil {
		t.Fatal(err)
	}
	if strings.Trim(string(b), "0123456789") != "" || string(b[:12]) != "012345678901" {
		t.Errorf("%q...", b[:40])
	}
	_ = x.Close()
	s.Idle()
}
