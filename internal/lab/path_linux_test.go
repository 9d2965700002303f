package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"soku/test/tier"
)

// goodput sends TCP for a moment and returns what arrived, in bits a second,
// after the congestion control has had a while to fill the path.
func goodput(t *testing.T, l *Lab, from, to string, warm, window time.Duration) float64 {
	t.Helper()
	listener := on(t, l, to, func() (net.Listener, error) { return net.Listen("tcp", net.JoinHostPort(address(t, l, to, ""), "0")) })
	defer listener.Close()
	out := on(t, l, from, func() (net.Conn, error) {
		d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
			_ = c.Control(func(fd uintptr) { err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic") })
			return err
		}}
		return d.Dial("tcp", listener.Addr().String())
	})
	in, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 256<<10)
		for {
			if _, err := out.Write(buf); err != nil {
				return
			}
		}
	}()
	defer func() { in.Close(); out.Close(); <-done }()
	buf := make([]byte, 256<<10)
	read := func(until time.Time) (n int64) {
		for time.Now().Before(until) {
			k, err := in.Read(buf)
			n += int64(k)
			if err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	read(time.Now().Add(warm))
	begin := time.Now()
	n := read(begin.Add(window))
	return float64(n) * 8 / time.Since(begin).Seconds()
}

func TestARateIsKeptAndReached(t *testing.T) {
	tier.WatchesTheClock(t)
	l := up(t, `
hosts:
  a:
  slow:
  medium:
  fast:
  htb:
  far:
  small:
routers: {r: }
links:
  - {from: a, to: r}
  - {from: r, to: slow, rate: 50M}
  - {from: r, to: medium, rate: 200M}
  - {from: r, to: fast, rate: 1G}
  - {from: r, to: htb, rate: 200M, shaper: htb}
  - {from: r, to: far, rate: 400M, delay: 1ms}
  - {from: r, to: small, rate: 100M, mtu: 1000}
`)
	for _, host := range []string{"slow", "medium", "fast", "htb", "far", "small"} {
		t.Run(host, func(t *testing.T) {
			tr, err := l.Topology.Truth("a", host, "")
			if err != nil {
				t.Fatal(err)
			}
			want := float64(tr.GoodputBps)
			// The cap may be missed when the machine is busy, but it can never be
			// exceeded by more than a burst.
			best := 0.0
			for range 12 {
				got := goodput(t, l, "a", host, 300*time.Millisecond, 400*time.Millisecond)
				if got > want*(1+0.005+burstTime.Seconds()/0.4) {
					t.Errorf("%.2f Mbit/s pass a cap of %.2f", got/1e6, want/1e6)
				}
				best = max(best, got)
				if best > want*0.995 {
					return
				}
			}
			t.Errorf("at best %.2f Mbit/s of %.2f", best/1e6, want/1e6)
		})
	}
}

// flood sends n datagrams from one host to another at a pace the receiver
// keeps up with, and returns how many arrived.
func flood(t *testing.T, l *Lab, from, to string, n int) int {
	t.Helper()
	in := on(t, l, to, func() (*net.UDPConn, error) {
		return net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address(t, l, to, ""))})
	})
	defer in.Close()
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) })
	out := on(t, l, from, func() (net.Conn, error) { return net.Dial("udp", in.LocalAddr().String()) })
	defer out.Close()
	got := 0
	buf := make([]byte, 2048)
	drain := func(wait time.Duration) {
		_ = in.SetReadDeadline(time.Now().Add(wait))
		for {
			if _, err := in.Read(buf); err != nil {
				return
			}
			if got++; got == n {
				return
			}
			_ = in.SetReadDeadline(time.Now().Add(wait))
		}
	}
	for i := range n {
		if _, err := out.Write(buf[:1200]); err != nil {
			t.Fatal(err)
		}
		if i%50 == 49 {
			drain(2 * time.Millisecond)
		}
	}
	drain(stopTimeout / 4)
	return got
}

func TestLossIsTheShareTheFileSays(t *testing.T) {
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b, loss: 10%, reverse: {loss: 0}}]")
	const n = 5000
	got := flood(t, l, "a", "b", n)
	s, err := l.Status()
	if err != nil {
		t.Fatal(err)
	}
	g := s.Links[0].Given
	if int(g.Packets) != got || int(g.Lost) != n-got {
		t.Errorf("%d of %d arrived, the record says %+v", got, n, g)
	}
	if share, five := float64(g.Lost)/n, 5*math.Sqrt(0.1*0.9/n); math.Abs(share-0.1) > five {
		t.Errorf("lost %.4f, want 0.1 within %.4f", share, five)
	}
	if back := flood(t, l, "b", "a", 1000); back != 1000 {
		t.Errorf("%d of 1000 came back over the direction without loss", back)
	}
}

func TestLossCountsPacketsNotSegmentsOfTheKernel(t *testing.T) {
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b, loss: 0.001, delay: 0.1ms}]")
	goodput(t, l, "a", "b", 0, 300*time.Millisecond)
	s, err := l.Status()
	if err != nil {
		t.Fatal(err)
	}
	if g := s.Links[0].Given; g.Packets == 0 || g.Bytes/g.Packets > 1514 {
		t.Errorf("packets of %d bytes on average: %+v", g.Bytes/max(g.Packets, 1), g)
	}
}

func TestEqualPathsSpreadFlowsAndKeepEachOnOne(t *testing.T) {
	l := up(t, `
hosts: {a: , b: }
routers: {r: , s: }
links:
  - {from: a, to: r}
  - {name: tunnel, from: r, to: s, parallel: 4}
  - {from: s, to: b}
`)
	const flows, each = 64, 10
	for range flows {
		if got := flood(t, l, "a", "b", each); got != each {
			t.Fatalf("%d of %d arrived", got, each)
		}
	}
	total := uint64(0)
	for _, link := range l.Topology.Links[1:5] {
		n := sent(t, l, link, 0)
		total += n
		if n == 0 || n%each != 0 {
			t.Errorf("%s carried %d packets; want whole flows of %d", link.Name, n, each)
		}
	}
	if total != flows*each {
		t.Errorf("%d packets over the tunnels, want %d", total, flows*each)
	}
}

// sent is how many packets left over one end of a link.
func sent(t *testing.T, l *Lab, link *Link, end int) uint64 {
	t.Helper()
	ns, err := netns.GetFromPath(namespacePath(NamespaceName(l.Topology.Name, link.Ends[end].Node.Name)))
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	dev, err := h.LinkByName(link.Ends[end].Iface)
	if err != nil {
		t.Fatal(err)
	}
	return dev.Attrs().Statistics.TxPackets
}

func TestAFirewallBlocksOnlyItsEntries(t *testing.T) {
	l := up(t, `
hosts:
  a:
  b: {firewall: {block: [tcp/5201, tcp/6000-6010, udp/7658]}}
routers: {r: {firewall: {block: [tcp/5202, icmp]}}}
links: [{from: a, to: r}, {from: r, to: b}]
`)
	target := address(t, l, "b", "")
	for _, c := range []struct {
		port    int
		blocked bool
	}{{5201, true}, {5202, true}, {5203, false}, {6000, true}, {6010, true}, {5999, false}, {6011, false}, {7658, false}} {
		err := inside(NamespaceName(l.Topology.Name, "a"), func() error {
			return dial(fmt.Sprintf("%s:%d", target, c.port), 150*time.Millisecond)
		})
		var timeout net.Error
		silent := errors.As(err, &timeout) && timeout.Timeout()
		if silent != c.blocked || !silent && !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("port %d blocked %v: %v", c.port, c.blocked, err)
		}
	}
	if out, err := l.Command(t.Context(), "a", "ping", "-c", "1", "-W", "0.2", target).CombinedOutput(); err == nil {
		t.Errorf("the router passes ICMP: %s", out)
	}
}

func TestAnMTUIsDiscovered(t *testing.T) {
	l := up(t, "hosts: {a: , b: }\nrouters: {r: }\nlinks: [{from: a, to: r}, {from: r, to: b, mtu: 1300}]")
	tr, err := l.Topology.Truth("a", "b", "")
	if err != nil || tr.MTU != 1300 {
		t.Fatalf("truth %+v, %v", tr, err)
	}
	target := address(t, l, "b", "") + ":9"
	c := on(t, l, "a", func() (net.Conn, error) { return net.Dial("udp", target) })
	defer c.Close()
	raw, err := c.(*net.UDPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var path int
	for deadline := time.Now().Add(2 * time.Second); path != 1300 && time.Now().Before(deadline); {
		_, _ = c.Write(make([]byte, 1400)) // the first is answered by the router, the next ones refused here
		err := raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
			path, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if path != 1300 {
		t.Errorf("path MTU %d, want 1300", path)
	}
}

func TestIPv6WorksOverEveryKindOfLink(t *testing.T) {
	l := up(t, "ipv6: true\nhosts: {a: , b: {server: true, addresses: {vip: fd00::7}}}\nrouters: {r: }\nlinks: [{from: a, to: r, delay: 0.2ms}, {from: r, to: b, rate: 100M}]")
	for _, label := range []string{"r-v6", "vip"} {
		target := net.JoinHostPort(address(t, l, "b", label), "7658")
		on(t, l, "a", func() (any, error) { return nil, dial(target, time.Second) })
	}
}

func TestAPolicerDropsWithoutAQueue(t *testing.T) {
	tier.WatchesTheClock(t)
	for name, text := range map[string]string{
		"link":      "routers: {r: }\nlinks: [{from: a, to: r}, {from: r, to: b, police: 50M}]",
		"router":    "routers: {r: {police: 50M}}\nlinks: [{from: a, to: r}, {from: r, to: b}]",
		"small MTU": "routers: {r: }\nlinks: [{from: a, to: r, mtu: 1300}, {from: r, to: b, mtu: 1300, police: 50M}]",
	} {
		t.Run(name, func(t *testing.T) {
			l := up(t, "hosts: {a: , b: }\n"+text)
			tr, err := l.Topology.Truth("a", "b", "")
			if err != nil || tr.CapBps != 50e6 {
				t.Fatalf("truth %+v, %v", tr, err)
			}
			want := 50e6 * float64(tr.MTU) / float64(tr.MTU+etherBytes) // IP packets
			best := 0.0
			for range 6 { // a sender that pauses longer than the burst loses its share
				got := blast(t, l, "a", "b", tr.MTU, 400*time.Millisecond)
				if got > want*(1.01+policeTime/0.4) {
					t.Errorf("%.2f Mbit/s pass a limit of %.2f", got/1e6, want/1e6)
				}
				if best = max(best, got); best > want*0.9 {
					return
				}
			}
			t.Errorf("at best %.2f Mbit/s of %.2f", best/1e6, want/1e6)
		})
	}
}

func TestAPolicerCountsThePacketsInALargeSegment(t *testing.T) {
	tier.WatchesTheClock(t)
	for name, text := range map[string]string{
		"of the sender":     "routers: {r: }\nlinks: [{from: a, to: r}, {from: r, to: b, police: 50M}]",
		"of the delay line": "routers: {r: }\nlinks: [{from: a, to: r, delay: 5ms}, {from: r, to: b, police: 50M}]",
	} {
		t.Run(name, func(t *testing.T) {
			l := up(t, "hosts: {a: , b: }\n"+text)
			got := goodput(t, l, "a", "b", 300*time.Millisecond, 400*time.Millisecond)
			if most := 50e6 * (1 + policeTime/0.4); got > most || got < 50e6/100 {
				t.Errorf("%.2f Mbit/s of TCP through a policer of 50", got/1e6)
			}
		})
	}
}

// blast sends datagrams that fill the MTU as fast as it can and returns the IP
// bits a second that arrived.
func blast(t *testing.T, l *Lab, from, to string, mtu int, window time.Duration) float64 {
	t.Helper()
	in := on(t, l, to, func() (*net.UDPConn, error) {
		return net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address(t, l, to, ""))})
	})
	defer in.Close()
	out := on(t, l, from, func() (net.Conn, error) { return net.Dial("udp", in.LocalAddr().String()) })
	ctx, cancel := context.WithTimeout(t.Context(), window)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = out.Write(make([]byte, mtu-28))
		}
	}()
	defer func() { cancel(); <-done; out.Close() }()
	buf := make([]byte, 2048)
	n := 0
	begin := time.Now()
	_ = in.SetReadDeadline(begin.Add(window))
	for {
		if _, err := in.Read(buf); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return float64(n*mtu) * 8 / time.Since(begin).Seconds()
		}
		n++
	}
}
