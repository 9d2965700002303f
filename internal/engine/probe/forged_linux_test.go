package probe

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/tier"
)

// here and silent are an address of the namespace and one behind a device that loses
// everything.
var here, silent = netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("10.9.0.2")

// inSilence runs f on a thread of its own in a network where silent does not answer.
func inSilence(t *testing.T, f func()) {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		err := silence()
		if err == nil {
			f()
		}
		done <- err
	}()
	switch err := <-done; {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EOPNOTSUPP):
		t.Skip("this system does not let the test have its network: ", err)
	case err != nil:
		t.Fatal(err)
	}
}

func silence() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	// The far end of the pair is in the same namespace and drops what is for another MAC.
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near0"}, PeerName: "far0"}
	if err := netlink.LinkAdd(pair); err != nil {
		return err
	}
	far, err := netlink.LinkByName("far0")
	if err != nil {
		return err
	}
	nobody := &netlink.Neigh{LinkIndex: pair.Index, State: netlink.NUD_PERMANENT, IP: silent.AsSlice(), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: here.AsSlice(), Mask: net.CIDRMask(24, 32)}}
	return errors.Join(
		netlink.LinkSetUp(lo), netlink.AddrAdd(pair, address), netlink.LinkSetUp(pair), netlink.LinkSetUp(far), netlink.NeighAdd(nobody),
		os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0),
	)
}

// quote is an ICMP error about a packet to an address.
func quote(typ, code byte, from, to netip.Addr, protocol byte, packet []byte) []byte {
	b := make([]byte, 8+20)
	b[0], b[1] = typ, code
	ip := b[8:]
	ip[0], ip[8], ip[9] = 0x45, 1, protocol
	binary.BigEndian.PutUint16(ip[2:], uint16(20+len(packet)))
	copy(ip[12:], from.AsSlice())
	copy(ip[16:], to.AsSlice())
	b = append(b, packet...)
	binary.BigEndian.PutUint16(b[2:], ^sum(0, b))
	return b
}

func TestForgedErrorsAreNotTaken(t *testing.T) {
	tier.SpendsSeconds(t)
	inSilence(t, func() {
		forger, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(forger)
		for _, kind := range []string{"udp", "icmp", "tcp"} {
			for _, alone := range []bool{false, true} {
				forgeAll(t, forger, kind, alone)
			}
		}
	})
}

func forgeAll(t *testing.T, forger int, kind string, alone bool) {
	o := measure.Options{Own: Options{Probe: kind}, Timeout: measure.Duration(time.Second), Port: 33434}
	if kind == "icmp" {
		o.Port = 0
	}
	p, err := Open(Config{What: "trace", Target: silent, Options: o, Flows: 1, Alone: alone})
	if err != nil {
		t.Errorf("%s, alone %v: %v", kind, alone, err)
		return
	}
	defer p.Close()
	const number = 7
	if err := p.Send(0, 3, number, 0); err != nil {
		t.Errorf("%s: %v", p, err)
		return
	}
	c := &codec{kind: kind, from: here, to: silent, port: uint16(o.Port), ports: []uint16{uint16(p.Port(0))}, token: tokenOf(p)}
	protocol := map[string]byte{"udp": protocolUDP, "icmp": protocolICMP, "tcp": protocolTCP}[kind]
	true7 := c.build(0, number, 0)
	otherRun, elsewhere := *c, *c
	otherRun.token ^= 0xffff_ffff_ffff_ffff
	elsewhere.ports = []uint16{c.ports[0] ^ 1}
	forged := map[string][]byte{
		"another port":       quote(11, 0, here, silent, protocol, elsewhere.build(0, number, 0)),
		"another host":       quote(11, 0, here, netip.MustParseAddr("10.9.0.3"), protocol, true7),
		"another protocol":   quote(11, 0, here, silent, protocolUDP+1, true7),
		"less than a header": quote(11, 0, here, silent, protocol, true7[:4]),
	}
	if _, connects := p.(*connecting); !connects {
		// The kernel itself checks the sequence number of a connection.
		forged["another run"] = quote(11, 0, here, silent, protocol, otherRun.build(0, number, 0))
	}
	for name, b := range forged {
		if got := answersTo(t, p, forger, b, 60*time.Millisecond); len(got) > 0 {
			t.Errorf("%s, %s: taken as %+v", p, name, got)
		}
	}
	if _, connects := p.(*connecting); connects {
		return // its sequence number is the kernel's: nothing true can be made here
	}
	got := answersTo(t, p, forger, quote(11, 0, here, silent, protocol, true7), time.Second)
	if len(got) != 1 || got[0].Number != number || got[0].Vague || got[0].Kind != Expired || got[0].From != here {
		t.Errorf("%s: a true error is %+v", p, got)
	}
}

func tokenOf(p Prober) uint64 {
	switch p := p.(type) {
	case *sockets:
		return p.token
	case *connecting:
		return p.token
	}
	return 0
}

// answersTo sends a packet from and to this host and collects what is taken, for a
// while or until something is.
func answersTo(t *testing.T, p Prober, from int, packet []byte, wait time.Duration) (got []Answer) {
	t.Helper()
	if err := unix.Sendto(from, packet, 0, Sockaddr(here, 0)); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(wait); len(got) == 0 && time.Now().Before(end); {
		if err := p.Receive(10*time.Millisecond, func(a Answer) { got = append(got, a) }); err != nil {
			t.Error(err)
			return got
		}
	}
	return got
}

func TestFlowsHavePortsOfTheirOwn(t *testing.T) {
	inSilence(t, func() {
		for _, kind := range []string{"udp", "icmp", "tcp"} {
			for _, alone := range []bool{false, true} {
				o := measure.Options{Own: Options{Probe: kind}, Timeout: measure.Duration(time.Second), Port: 33434}
				p, err := Open(Config{What: "trace", Target: silent, Options: o, Flows: 64, Alone: alone})
				if err != nil {
					t.Errorf("%s: %v", kind, err)
					continue
				}
				var ports []int
				for f := range 64 {
					ports = append(ports, p.Port(f))
				}
				slices.Sort(ports)
				if n := len(slices.Compact(ports)); n != 64 || ports[0] == 0 && kind != "icmp" {
					t.Errorf("%s: %d ports of 64 flows: %v", p, n, ports)
				}
				p.Close()
			}
		}
	})
}

func TestWithoutRightsTheNextStepIsNamed(t *testing.T) {
	inSilence(t, func() {
		// This thread has no right to raw sockets and its group is in no range.
		if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("1 0"), 0); err != nil {
			t.Error(err)
			return
		}
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil {
			t.Error(err)
			return
		}
		o := measure.Options{Own: Options{Probe: "icmp"}, Timeout: measure.Duration(time.Second)}
		_, err := Open(Config{What: "trace", Target: silent, Options: o, Flows: 1})
		var failure *measure.Error
		if measure.KindOf(err) != measure.KindPermission || !errors.As(err, &failure) || failure.Hint == "" {
			t.Errorf("got %v", err)
		}
		for _, kind := range []string{"udp", "tcp"} {
			o.Own, o.Port = Options{Probe: kind}, 33434
			p, err := Open(Config{What: "trace", Target: silent, Options: o, Flows: 2})
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			p.Close()
		}
	})
}

// The kernel finds the extensions behind what is quoted, which is filled up to 128 bytes.
func TestLabelsComeWithTheAnswer(t *testing.T) {
	inSilence(t, func() {
		forger, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(forger)
		for _, alone := range []bool{false, true} {
			for _, kind := range []string{"udp", "icmp"} {
				for _, quotes := range []int{8, 20} {
					labelled(t, forger, kind, alone, quotes)
				}
			}
		}
	})
}

// labelled sends a probe, and an error with a label stack that quotes this number of its bytes.
func labelled(t *testing.T, forger int, kind string, alone bool, quotes int) {
	o := measure.Options{Own: Options{Probe: kind}, Timeout: measure.Duration(time.Second)}
	protocol := byte(protocolICMP)
	if kind == "udp" {
		o.Port, protocol = 33434, protocolUDP
	}
	p, err := Open(Config{What: "trace", Target: silent, Options: o, Flows: 1, Alone: alone})
	if err != nil {
		t.Errorf("%s: %v", kind, err)
		return
	}
	defer p.Close()
	const number = 7
	if err := p.Send(0, 3, number, 0); err != nil {
		t.Errorf("%s: %v", p, err)
		return
	}
	c := &codec{kind: kind, from: here, to: silent, port: uint16(o.Port), ports: []uint16{uint16(p.Port(0))}, token: tokenOf(p)}
	const filled = 128
	packet := make([]byte, filled-20)
	built := c.build(0, number, 0)
	copy(packet, built[:min(quotes, len(built))])
	packet = append(packet, 0x20, 0, 0, 0, 0, 8, 1, 1, 0x00, 0x3e, 0x81, 0x07)
	b := quote(11, 0, here, silent, protocol, packet)
	b[2], b[3], b[5] = 0, 0, filled/4
	binary.BigEndian.PutUint16(b[2:], ^sum(0, b))
	got := answersTo(t, p, forger, b, time.Second)
	want := []measure.MPLSLabel{{Label: 1000, Last: true, TTL: 7}}
	if len(got) != 1 || !slices.Equal(got[0].Labels, want) {
		t.Errorf("%s, %d bytes quoted: %+v, want labels %+v", p, quotes, got, want)
		return
	}
	if vague := alone && kind == "udp" && quotes == 8; got[0].Vague != vague || !vague && got[0].Number != number {
		t.Errorf("%s, %d bytes quoted: %+v", p, quotes, got[0])
	}
}
