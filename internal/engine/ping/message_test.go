package ping

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

func replyTo(t testing.TB, v6 bool, id uint16, token, n uint64, size int) []byte {
	t.Helper()
	b, err := request(v6, id, token, n, make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	if b[0] = 0; v6 {
		b[0] = 129
	}
	return b
}

func TestARequestComesBackAsItsReply(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, size := range []int{0, 1, 8, 15, 16, 56, 1400} {
			m := parse(v6, replyTo(t, v6, 0xbeef, 0x1122334455667788, 0x1_0002, size))
			if m.kind != reply || m.id != 0xbeef || m.seq != 2 || len(m.payload) != size {
				t.Errorf("v6 %v, %d bytes: got %+v", v6, size, m)
			}
			if size >= tokenSize && binary.BigEndian.Uint64(m.payload) != 0x1122334455667788 {
				t.Errorf("%d bytes: token %x", size, m.payload[:tokenSize])
			}
			if size >= numberedLen && binary.BigEndian.Uint64(m.payload[tokenSize:]) != 0x1_0002 {
				t.Errorf("%d bytes: number %x", size, m.payload[tokenSize:numberedLen])
			}
		}
	}
}

// unreachable is an ICMP error of that type and code about a request to 192.0.2.9 or 2001:db8::9.
func unreachable(t testing.TB, v6 bool, typ, code byte, id uint16, n uint64) []byte {
	t.Helper()
	inner, err := request(v6, id, 1, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, 20)
	header[0], header[9] = 0x45, protocolICMP
	copy(header[16:], []byte{192, 0, 2, 9})
	if v6 {
		header = make([]byte, 40)
		header[0], header[6] = 0x60, protocolICMPv6
		to := netip.MustParseAddr("2001:db8::9").As16()
		copy(header[24:], to[:])
	}
	return append(append([]byte{typ, code, 0, 0, 0, 0, 0, 0}, header...), inner...)
}

func TestAnErrorNamesTheRequestItIsAbout(t *testing.T) {
	for _, c := range []struct {
		v6        bool
		typ, code byte
		to        string
		want      measure.Reason
	}{
		{false, 3, 1, "192.0.2.9", measure.ReasonHostUnreachable},
		{false, 3, 13, "192.0.2.9", measure.ReasonAdminProhibited},
		{false, 3, 99, "192.0.2.9", measure.ReasonUnreachable},
		{false, 11, 0, "192.0.2.9", measure.ReasonTimeExceeded},
		{true, 1, 0, "2001:db8::9", measure.ReasonNoRoute},
		{true, 2, 0, "2001:db8::9", measure.ReasonPacketTooBig},
	} {
		m := parse(c.v6, unreachable(t, c.v6, c.typ, c.code, 77, 5))
		if m.kind != failure || m.id != 77 || m.seq != 5 || m.to.String() != c.to || m.reason != c.want {
			t.Errorf("type %d code %d: got %+v, want %q about %s", c.typ, c.code, m, c.want, c.to)
		}
	}
}

func TestForeignMessagesAreOther(t *testing.T) {
	echoRequest, _ := request(false, 1, 1, 1, nil)
	udp := unreachable(t, false, 3, 3, 1, 1)
	udp[headerSize+9] = 17
	for name, b := range map[string][]byte{
		"nothing": nil, "short": {0, 0, 0}, "an echo request": echoRequest, "a redirect": append([]byte{5}, make([]byte, 60)...),
		"an error about UDP": udp, "a cut error": unreachable(t, false, 3, 1, 1, 1)[:headerSize+19],
		"an error that quotes no ICMP header":      unreachable(t, false, 3, 1, 1, 1)[:headerSize+27],
		"a quote with a header longer than itself": append(make([]byte, 0), append([]byte{3, 1, 0, 0, 0, 0, 0, 0, 0x4f}, make([]byte, 27)...)...),
	} {
		if m := parse(false, b); m.kind != other {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	if m := parse(true, unreachable(t, true, 1, 0, 1, 1)[:headerSize+44]); m.kind != other {
		t.Errorf("a cut ICMPv6 error: got %+v", m)
	}
}

func TestStripIPv4TakesOptionsOff(t *testing.T) {
	b := append([]byte{0x46}, make([]byte, 23)...)
	if rest, ok := probe.StripIPv4(append(b, 7)); !ok || !bytes.Equal(rest, []byte{7}) {
		t.Errorf("got %v %v", rest, ok)
	}
	for _, bad := range [][]byte{nil, {0x45}, append([]byte{0x65}, make([]byte, 30)...), append([]byte{0x44}, make([]byte, 30)...), append([]byte{0x4f}, make([]byte, 30)...)} {
		if _, ok := probe.StripIPv4(bad); ok {
			t.Errorf("%x was taken for an IPv4 packet", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v6 := range []bool{false, true} {
		f.Add(v6, replyTo(f, v6, 1, 2, 3, 56))
		f.Add(v6, unreachable(f, v6, 3, 1, 1, 1))
		f.Add(v6, unreachable(f, v6, 1, 1, 1, 1))
	}
	f.Fuzz(func(t *testing.T, v6 bool, b []byte) {
		m := parse(v6, b)
		if len(m.payload) > len(b) || m.kind == failure && (m.reason == "" || !m.to.IsValid()) {
			t.Errorf("%x: %+v", b, m)
		}
		if end := echoAtEnd(b, 56); len(end.payload) != 0 && len(end.payload) != 56 {
			t.Errorf("%x: a payload of %d bytes at the end", b, len(end.payload))
		}
		if rest, ok := probe.StripIPv4(b); ok && len(rest) > len(b)-20 {
			t.Errorf("%x: %d bytes after the header", b, len(rest))
		}
	})
}
