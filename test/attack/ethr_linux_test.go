package attack

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"soku/internal/wire/ethr"
)

var _ = row(
	attack{name: "forged datagrams of Ethr", run: forgedDatagrams},
	attack{name: "forged datagrams of Ethr at a server with turns", args: []string{"--exclusive"}, turns: othersTurns, run: forgedDatagrams},
	attack{name: "a client of Ethr that reconnects", args: []string{"--exclusive", "--max-duration", "1s"}, turns: othersTurns + 2*time.Second, run: reconnectingEthr},
)

// othersTurns are those of the other honest clients, one of whose tests over UDP ends after
// two seconds of silence.
const othersTurns = 6 * time.Second

// forgedDatagrams come from 1,200 addresses, each again before a test would be over.
func forgedDatagrams(ctx context.Context, t *testing.T, at *target, ready func()) {
	const addresses = 1200
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at.ethr))
	for ctx.Err() == nil {
		for i := range addresses {
			from := &net.UDPAddr{IP: net.IPv4(127, 66, byte(i>>8), byte(i))}
			c, err := net.DialUDP("udp", from, to)
			if err != nil {
				t.Errorf("forge a datagram: %v", err)
				return
			}
			_, _ = c.Write(make([]byte, 29))
			_ = c.Close()
		}
		ready()
		if !sleep(ctx.Done(), time.Second) {
			return
		}
	}
}

// reconnectingEthr has two connections at any time.
func reconnectingEthr(ctx context.Context, t *testing.T, at *target, ready func()) {
	var last net.Conn
	defer func() {
		if last != nil {
			_ = last.Close()
		}
	}()
	request := ethr.Append(nil, ethr.Message{Kind: ethr.Syn, Test: ethr.Bandwidth, Params: ethr.Params{Threads: 1, Buffer: 16000}})
	for n := 0; ; n++ {
		c, err := from(1).Dial("tcp", at.ethr)
		if err != nil {
			t.Errorf("connect: %v", err)
			return
		}
		_, _ = c.Write(request)
		if last != nil {
			_ = last.Close()
		}
		last = c
		if n == 3 {
			ready()
		}
		if !sleep(ctx.Done(), 50*time.Millisecond) {
			return
		}
	}
}

// from dials from the address of an attacker, by its number.
func from(n int) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 66, byte(n>>8), byte(n))}, Timeout: 5 * time.Second}
}
