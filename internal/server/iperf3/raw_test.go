package iperf3

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	wire "soku/internal/wire/iperf3"
)

// raw is a client of iperf3 by hand.
type raw struct {
	t *testing.T
	net.Conn
	addr   string
	local  net.TCPAddr
	cookie wire.Cookie
}

func newRaw(s *running) *raw {
	s.t.Helper()
	return newRawFrom(s, "127.0.0.1")
}

// newRawFrom is newRaw from another address of loopback.
func newRawFrom(s *running, address string) *raw {
	s.t.Helper()
	x := &raw{t: s.t, addr: s.addr, local: net.TCPAddr{IP: net.ParseIP(address)}, cookie: wire.NewCookie()}
	x.Conn = x.dial()
	return x
}

// dial opens a connection that begins with the cookie.
func (x *raw) dial() net.Conn {
	x.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &x.local}).Dial("tcp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write(x.cookie[:]); err != nil {
		x.t.Fatal(err)
	}
	return c
}

// stream opens a stream of the test.
func (x *raw) stream(network string) net.Conn {
	x.t.Helper()
	if network == "tcp" {
		return x.dial()
	}
	c, err := net.Dial("udp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = c.Write([]byte(wire.UDPConnect))
	if _, err := c.Read(make([]byte, 16)); err != nil {
		x.t.Fatal(err)
	}
	return c
}

// hears expects these states, one after another.
func (x *raw) hears(states ...wire.State) {
	x.t.Helper()
	for _, want := range states {
		if got, err := wire.ReadState(x); err != nil || got != want {
			x.t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
}

// refusedWith expects an error number.
func (x *raw) refusedWith(code int) {
	x.t.Helper()
	x.hears(wire.ServerError)
	var b [8]byte
	if _, err := io.ReadFull(x, b[:]); err != nil || int(binary.BigEndian.Uint32(b[:])) != code {
		x.t.Errorf("error %d, %v; want %d", binary.BigEndian.Uint32(b[:]), err, code)
	}
}

func (x *raw) asks(json string) {
	x.t.Helper()
	x.hears(wire.ParamExchange)
	if err := wire.WriteJSON(x, []byte(json)); err != nil {
		x.t.Fatal(err)
	}
}

const (
	askTCP = `{"tcp":true,"omit":0,"time":10,"parallel":1,"len":1000}`
	askUDP = `{"udp":true,"omit":0,"time":10,"parallel":1,"len":1000,"reverse":true,"bandwidth":1000000}`
)
