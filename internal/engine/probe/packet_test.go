package probe

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"soku/internal/measure"
)

func testCodec(kind string, v6 bool) *codec {
	c := &codec{kind: kind, v6: v6, from: netip.MustParseAddr("192.0.2.1"), to: netip.MustParseAddr("198.51.100.9"),
		port: 33434, ports: []uint16{40001, 40002}, token: 0x1122334455667788}
	if v6 {
		c.from, c.to = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8:9::9")
	}
	return c
}

// eachCodec runs f for every kind of probe and family.
func eachCodec(f func(kind string, v6 bool, c *codec)) {
	for _, kind := range []string{"icmp", "udp", "tcp"} {
		for _, v6 := range []bool{false, true} {
			f(kind, v6, testCodec(kind, v6))
		}
	}
}

func TestAQuotedProbeNamesItsFlowAndNumber(t *testing.T) {
	eachCodec(func(kind string, v6 bool, c *codec) {
		for _, number := range []uint16{FirstNumber, 2, 0x1234, 0x8000, LastNumber} {
			for _, size := range []int{0, 100, 101, 1500} {
				b := c.build(1, number, size)
				for _, quoted := range []int{8, len(b)} { // routers must quote 8 bytes (RFC 792)
					flow, n, ok := c.quoted(b[:quoted])
					if !ok || flow != 1 || n != number {
						t.Errorf("%s v6 %v, %d of %d bytes: flow %d, number %d of %d, %v", kind, v6, quoted, len(b), flow, n, number, ok)
					}
				}
				if want := max(size, c.least()) - c.ipHead(); kind != "tcp" && len(b) != want {
					t.Errorf("%s: %d bytes, want %d", kind, len(b), want)
				}
			}
		}
	})
}

func TestProbesOfAFlowDifferInNothingThatRoutersHash(t *testing.T) {
	eachCodec(func(kind string, v6 bool, c *codec) {
		if v6 && kind == "icmp" {
			return // the kernel writes the checksum; see the sum below
		}
		a, b := c.build(0, 1, 0), c.build(0, 54321, 0)
		head := 4 // ports, or type, code and checksum
		if !slices.Equal(a[:head], b[:head]) {
			t.Errorf("%s v6 %v: %x and %x", kind, v6, a[:8], b[:8])
		}
		if kind == "icmp" && !slices.Equal(a[4:6], b[4:6]) {
			t.Errorf("identifiers %x and %x", a[4:6], b[4:6])
		}
	})
	c := testCodec("icmp", true)
	if a, b := sum(0, c.build(0, 1, 0)), sum(0, c.build(0, 54321, 0)); a != b {
		t.Errorf("ICMPv6 would have checksums of %x and %x", a, b)
	}
}

func TestChecksumsAreRight(t *testing.T) {
	eachCodec(func(kind string, v6 bool, c *codec) {
		if v6 && kind == "icmp" {
			return
		}
		for _, number := range []uint16{1, 999, LastNumber} {
			for _, size := range []int{0, 77, 1280} {
				b := c.build(0, number, size)
				s := uint32(0)
				switch kind {
				case "udp":
					s = c.pseudo(protocolUDP, len(b))
				case "tcp":
					s = c.pseudo(protocolTCP, len(b))
				}
				if got := sum(s, b); got != 0xffff {
					t.Errorf("%s v6 %v, number %d, %d bytes: sums to %x", kind, v6, number, size, got)
				}
			}
		}
	})
}

func TestErrorsWithWrongQuotesAreIgnored(t *testing.T) {
	eachCodec(func(kind string, v6 bool, c *codec) {
		good := c.build(0, 7, 0)
		alien := *c
		alien.token++
		alien.token ^= 1 << 31
		for name, b := range map[string][]byte{
			"seven bytes": good[:7], "another source": alienPort(good, 0, kind), "another run": alien.build(0, 7, 0),
			"another destination": alienPort(good, 2, kind),
		} {
			if flow, n, ok := c.quoted(b); ok {
				t.Errorf("%s v6 %v, %s: taken as flow %d, number %d", kind, v6, name, flow, n)
			}
		}
	})
}

// alienPort changes what stands for a port at that offset.
func alienPort(b []byte, at int, kind string) []byte {
	b = slices.Clone(b)
	if kind == "icmp" {
		at = 4
	}
	binary.BigEndian.PutUint16(b[at:], 1)
	return b
}

func TestTheReplyToASYNCarriesItsNumber(t *testing.T) {
	c := testCodec("tcp", false)
	answer := func(flags byte, ack uint32) []byte {
		b := make([]byte, 20)
		binary.BigEndian.PutUint16(b, c.port)
		binary.BigEndian.PutUint16(b[2:], c.ports[1])
		binary.BigEndian.PutUint32(b[8:], ack)
		b[13] = flags
		return b
	}
	const synAck, rstAck, ackOnly = 18, 20, 16
	for _, flags := range []byte{synAck, rstAck} {
		if flow, n, vague, ok := c.reply(answer(flags, c.sequence(77)+1)); !ok || vague || flow != 1 || n != 77 {
			t.Errorf("flags %d: flow %d, number %d, %v, %v", flags, flow, n, vague, ok)
		}
	}
	for name, b := range map[string][]byte{
		"data": answer(ackOnly, c.sequence(77)+1), "guessed": answer(rstAck, 78), "short": answer(synAck, c.sequence(77)+1)[:12],
	} {
		if _, _, _, ok := c.reply(b); ok {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestLabelsAreReadFromExtensions(t *testing.T) {
	b := []byte{
		0x20, 0, 0, 0, // version 2, checksum
		0, 8, 2, 1, 9, 9, 9, 9, // an object of another class
		0, 12, 1, 1, 0x00, 0x01, 0x06, 0x05, 0xff, 0xff, 0xff, 0xff,
	}
	got := labels(b)
	want := []measure.MPLSLabel{{Label: 16, Class: 3, TTL: 5}, {Label: 0xfffff, Class: 7, Last: true, TTL: 255}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b[13] = 200 // longer than there is
	if got := labels(b); len(got) != 0 {
		t.Errorf("out of a damaged object: %+v", got)
	}
}

func TestOnlyTheTargetCanSayThatItsPortIsClosed(t *testing.T) {
	if k := kindOf(false, 3, 3, true); k != Arrived {
		t.Errorf("from the target: %d", k)
	}
	if k := kindOf(false, 3, 3, false); k != Blocked {
		t.Errorf("from a filter on the way: %d", k)
	}
	if k := kindOf(true, 1, 4, true); k != Arrived {
		t.Errorf("IPv6: %d", k)
	}
}

func FuzzExtendedError(f *testing.F) {
	f.Add(append([]byte{113, 0, 0, 0, originICMP, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2, 0, 0, 0, 192, 0, 2, 1), false)
	f.Add(append([]byte{113, 0, 0, 0, originICMP6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 28)...), true)
	f.Add([]byte{1, 2, 3}, true)
	f.Fuzz(func(t *testing.T, b []byte, v6 bool) {
		e, ok := ParseExtended(b, v6)
		if ok && e.From.IsValid() && e.From.Is6() != v6 {
			t.Errorf("%x: from %v", b, e.From)
		}
		if e.MTU < 0 || e.MTU > 1<<16 || e.extensions < 0 || e.extensions > 1<<16 {
			t.Errorf("%x: %+v", b, e)
		}
	})
}

func FuzzQuotedPacket(f *testing.F) {
	eachCodec(func(_ string, _ bool, c *codec) {
		f.Add(c.build(0, 7, 0), byte(11), byte(0), 0)
		f.Add(append(c.build(1, 9, 128), 0x20, 0, 0, 0, 0, 8, 1, 1, 0, 1, 0, 5), byte(3), byte(3), 128)
	})
	f.Fuzz(func(t *testing.T, b []byte, typ, code byte, extensions int) {
		eachCodec(func(kind string, v6 bool, c *codec) {
			if flow, _, ok := c.quoted(b); ok && (flow < 0 || flow >= len(c.ports)) {
				t.Errorf("%s: flow %d", kind, flow)
			}
			if flow, _, _, ok := c.reply(b); ok && (flow < 0 || flow >= len(c.ports)) {
				t.Errorf("%s: flow %d of a reply", kind, flow)
			}
			var a Answer
			a.fill(Extended{Type: typ, Code: code, extensions: extensions}, b, c)
			if len(a.Labels) > mostLabels {
				t.Errorf("%d labels", len(a.Labels))
			}
		})
	})
}

func FuzzLabels(f *testing.F) {
	f.Add([]byte{0x20, 0, 0, 0, 0, 8, 1, 1, 0, 1, 1, 5})
	f.Add([]byte{0x20, 0, 0, 0, 0, 4, 1, 1, 0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if l := labels(b); len(l) > mostLabels {
			t.Errorf("%d labels out of %d bytes", len(l), len(b))
		}
	})
}
