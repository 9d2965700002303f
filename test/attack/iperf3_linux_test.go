package attack

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"soku/internal/wire/iperf3"
)

var _ = row(
	attack{name: "the end of an iperf3 test before its first datagram", run: endBeforeDatagram},
	attack{name: "clients of iperf3 that send a cookie alone", run: cookiesAlone},
)

// cookiesAlone are more clients than the server has places, who never say what they want.
func cookiesAlone(ctx context.Context, t *testing.T, at *target, ready func()) {
	cookie := func() []byte { c := iperf3.NewCookie(); return c[:] }
	open(ctx, t, at.iperf3, cookie, 1500, true, ready)
}

// endBeforeDatagram opens tests that their client ends immediately, and leaves.
func endBeforeDatagram(ctx context.Context, t *testing.T, at *target, ready func()) {
	for n := 1; ctx.Err() == nil; n++ {
		if err := endOne(ctx, at, n%200); err != nil && ctx.Err() == nil {
			t.Errorf("a test that ends at once: %v", err)
			return
		}
		if n == 20 {
			ready()
		}
		if n >= 20 && !sleep(ctx.Done(), 50*time.Millisecond) {
			return
		}
	}
}

func endOne(ctx context.Context, at *target, n int) error {
	c, err := from(n).DialContext(ctx, "tcp", at.iperf3)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	cookie := iperf3.NewCookie()
	if _, err := c.Write(cookie[:]); err != nil {
		return err
	}
	if err := hear(c, iperf3.ParamExchange); err != nil {
		return err
	}
	if err := iperf3.WriteJSON(c, []byte(`{"udp":true,"omit":0,"time":10,"parallel":1,"len":1000}`)); err != nil {
		return err
	}
	if err := hear(c, iperf3.CreateStreams); err != nil {
		return err
	}
	own := c.LocalAddr().(*net.TCPAddr).AddrPort().Addr()
	u, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(own, 0)), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at.iperf3)))
	if err != nil {
		return err
	}
	defer u.Close()
	if _, err := u.Write([]byte(iperf3.UDPConnect)); err != nil {
		return err
	}
	if err := hear(c, iperf3.TestStart); err != nil {
		return err
	}
	if err := hear(c, iperf3.TestRunning); err != nil {
		return err
	}
	return iperf3.WriteState(c, iperf3.TestEnd)
}

// hear reads a state that is expected.
func hear(c net.Conn, want iperf3.State) error {
	got, err := iperf3.ReadState(c)
	if err == nil && got != want {
		err = fmt.Errorf("state %s instead of %s", got, want)
	}
	return err
}
