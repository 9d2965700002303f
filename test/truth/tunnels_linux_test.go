package truth

import (
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/test/built"
)

// Two hosts on one cable, or with unequal tunnels between two routers, and the kernel's own
// limits on ICMP errors: every flow is on the tunnel that its packets take, or the result
// says that its path is not known. Nothing else is shown. The traces mostly wait for answers,
// so they run concurrently.
func TestATraceShowsTheTunnelsThatPacketsTake(t *testing.T) {
	t.Parallel()
	cases := []*tunnelCase{{tunnels: 0}, {tunnels: 2}, {tunnels: 3}, {tunnels: 4}}
	var running sync.WaitGroup
	for _, c := range cases {
		c.begin(t)
		running.Go(func() { c.r, _, c.err = found(t.Context(), c.lab, c.args) })
	}
	running.Wait()
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d tunnels", c.tunnels), c.check)
	}
}

// tunnelCase is a network and its trace.
type tunnelCase struct {
	tunnels int // 0: one cable
	lab     *lab.Lab
	taken   func() map[int]string
	args    []string
	r       *measure.Result
	err     error
}

func (c *tunnelCase) begin(t *testing.T) {
	t.Helper()
	if c.tunnels == 0 {
		c.lab = network(t, "hosts: {client: , server: }\nlinks:\n  - {from: client, to: server}\n")
	} else {
		c.lab = network(t, unequal(c.tunnels))
		c.taken = watch(t, c.lab, "r2")
	}
	c.args = []string{built.Program(t), "trace", target(t, c.lab, false), "--flows", "16", "--json", "--no-save"}
}

func (c *tunnelCase) check(t *testing.T) {
	if c.err != nil {
		t.Fatal(c.err)
	}
	tr, to := c.r.Trace, target(t, c.lab, false)
	known, ends := tr.Known(), map[string]bool{}
	var truth map[int]string
	if c.taken != nil {
		truth = c.taken()
	}
	for i, f := range tr.Flows {
		way := []string{to}
		if c.tunnels > 0 {
			way = []string{addressOf(t, c.lab, "r1", false, 0), truth[f.Port], to}
		}
		ends[way[len(way)/2]] = true
		if known[i] && !slices.Equal(f.Path, way) {
			t.Errorf("flow %d: %v, but its packets took %v", i, f.Path, way)
		}
	}
	unknown := slices.Contains(known, false)
	if warned := c.r.Findings.With(finding.TraceFlowsUnknown); unknown != (len(warned) > 0) {
		t.Errorf("known %v, findings %+v", known, warned)
	}
	if middle := tr.Hops[len(tr.Hops)/2]; !unknown && len(middle.Nodes) != len(ends) {
		t.Errorf("%d nodes at the far ends of %d tunnels", len(middle.Nodes), len(ends))
	}
	hops := 3
	if c.tunnels == 0 {
		hops = 1
		if unknown {
			t.Errorf("known %v", known)
		}
	}
	noInventions(t, c.r, hops)
}

// noInventions checks a path without loss.
func noInventions(t *testing.T, r *measure.Result, hops int) {
	t.Helper()
	if len(r.Trace.Hops) != hops || !r.Trace.Reached {
		t.Errorf("hops %v, want %d", names(r.Trace.Hops), hops)
	}
	for _, h := range r.Trace.Hops {
		if h.Lost != 0 || h.LossRatio != 0 || h.Due == 0 {
			t.Errorf("hop %d: %d of %d lost", h.Hop, h.Lost, h.Due)
		}
	}
}

// unequal is two hosts, two routers and tunnels between these.
func unequal(tunnels int) string {
	var b strings.Builder
	b.WriteString("hosts: {client: , server: }\nrouters: {r1: , r2: }\nlinks:\n  - {from: client, to: r1}\n  - {from: r2, to: server}\n")
	for i := range tunnels {
		fmt.Fprintf(&b, "  - {from: r1, to: r2, rate: %dM, delay: %dms, mtu: %d}\n", 100>>i, i+1, 1500-60*i)
	}
	return b.String()
}

// watch returns a function that returns the address of the device at which a node received
// the UDP packets from each source port.
func watch(t *testing.T, l *lab.Lab, node string) func() map[int]string {
	t.Helper()
	ns := namespaceOf(t, l, node)
	fd, addresses := -1, map[int]string{}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Setns(int(ns), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		var err error
		protocol := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_IP))
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(protocol)); err != nil {
			done <- err
			return
		}
		devices, err := net.Interfaces()
		for _, d := range devices {
			if list, _ := d.Addrs(); len(list) > 0 {
				addresses[d.Index] = list[0].(*net.IPNet).IP.String()
			}
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return func() map[int]string {
		ports := map[int]string{}
		b := make([]byte, 64)
		for {
			n, from, err := unix.Recvfrom(fd, b, 0)
			if err != nil {
				return ports
			}
			head := int(b[0]&15) * 4
			at := from.(*unix.SockaddrLinklayer)
			if n < head+8 || b[9] != unix.IPPROTO_UDP || at.Pkttype == unix.PACKET_OUTGOING {
				continue
			}
			ports[int(binary.BigEndian.Uint16(b[head:]))] = addresses[at.Ifindex]
		}
	}
}

// Over unequal tunnels each flow has the path MTU of its own, and the smallest is the result.
func TestThePathMTUOfEachFlowIsThatOfItsTunnel(t *testing.T) {
	t.Parallel()
	l := network(t, unequal(3))
	taken := watch(t, l, "r2")
	r, _ := probe(t, l, false, "mtu", target(t, l, false), "--flows", "6")
	m, truth := r.PathMTU, taken()
	sizes := map[string]int{}
	for i := range 3 {
		sizes[addressOf(t, l, "r2", false, i+1)] = 1500 - 60*i
	}
	least := 1500
	for _, f := range m.Flows {
		tunnel := truth[f.Port]
		least = min(least, sizes[tunnel])
		if f.Bytes != sizes[tunnel] {
			t.Errorf("flow %d over %s: %d bytes, want %d", f.Index, tunnel, f.Bytes, sizes[tunnel])
		}
		if f.Bytes == 1500 {
			continue // all that the client sends
		}
		if f.Limit != measure.LimitReported || f.After == nil || f.After.Address != addressOf(t, l, "r1", false, 0) || f.Before == nil || f.Before.Address != tunnel {
			t.Errorf("flow %d over %s: %s, after %+v before %+v", f.Index, tunnel, f.Limit, f.After, f.Before)
		}
	}
	if len(m.Flows) != 6 || m.Bytes != least || r.Summary.PathMTUBytes != least {
		t.Errorf("%d flows, %d bytes, want %d", len(m.Flows), m.Bytes, least)
	}
	if least, most, _ := m.Range(); (least < most) != (len(r.Findings.With(finding.MTUFlowsDiffer)) > 0) {
		t.Errorf("%d to %d bytes, findings %+v", least, most, r.Findings)
	}
}
