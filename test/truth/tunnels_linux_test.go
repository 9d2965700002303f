package truth

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
)

// Unequal tunnels between two routers, and hosts with the kernel's own limits on ICMP errors:
// every flow is on the tunnel that its packets take, or the result says that its path is
// not known. Nothing else is shown.
func TestATraceShowsTheTunnelsThatPacketsTake(t *testing.T) {
	t.Parallel()
	for tunnels := 2; tunnels <= 4; tunnels++ {
		t.Run(fmt.Sprintf("%d tunnels", tunnels), func(t *testing.T) {
			t.Parallel()
			l := network(t, unequal(tunnels))
			taken := watch(t, l, "r2")
			r, _ := probe(t, l, false, "trace", target(t, l, false), "--flows", "16")
			truth, known := taken(), r.Trace.Known()
			last := addressOf(t, l, "r2", false, 0)
			want := map[string]bool{}
			for i, f := range r.Trace.Flows {
				way := []string{addressOf(t, l, "r1", false, 0), truth[f.Port], target(t, l, false)}
				want[way[1]] = true
				if known[i] && !slices.Equal(f.Path, way) {
					t.Errorf("flow %d: %v, but its packets took %v", i, f.Path, way)
				}
			}
			if told := r.Findings.With(measure.CodeTraceFlowsUnknown); slices.Contains(known, false) != (len(told) > 0) {
				t.Errorf("known %v, findings %+v", known, told)
			}
			if !slices.Contains(known, false) && len(r.Trace.Hops[1].Nodes) != len(want) {
				t.Errorf("%d nodes at the far ends of %d tunnels, such as %s", len(r.Trace.Hops[1].Nodes), len(want), last)
			}
			noInventions(t, r, 3)
		})
	}
}

// Two hosts on one cable are one hop from each other, without loss and without branches.
func TestATraceOverACableIsOneHop(t *testing.T) {
	t.Parallel()
	l := network(t, "hosts: {client: , server: }\nlinks:\n  - {from: client, to: server}\n")
	r, _ := probe(t, l, false, "trace", target(t, l, false), "--flows", "16")
	noInventions(t, r, 1)
	for i, known := range r.Trace.Known() {
		if !known || len(r.Trace.Flows[i].Path) != 1 {
			t.Errorf("flow %d: known %v, path %v", i, known, r.Trace.Flows[i].Path)
		}
	}
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
	ns, err := os.Open(filepath.Join("/run/netns", lab.NamespaceName(l.Topology.Name, node)))
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	fd, addresses := -1, map[int]string{}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
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
	r, _ := probe(t, l, false, "mtu", target(t, l, false), "--flows", "8")
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
	if len(m.Flows) != 8 || m.Bytes != least || r.Summary.PathMTUBytes != least {
		t.Errorf("%d flows, %d bytes, want %d", len(m.Flows), m.Bytes, least)
	}
	if least, most, _ := m.Range(); (least < most) != (len(r.Findings.With(measure.CodeMTUFlowsDiffer)) > 0) {
		t.Errorf("%d to %d bytes, findings %+v", least, most, r.Findings)
	}
}
