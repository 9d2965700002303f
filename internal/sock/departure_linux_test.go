package sock

import (
	"encoding/binary"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// extended is a struct sock_extended_err as two words, with an empty address.
func extended(origin byte, info, key uint32) []uint64 {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.ENOMSG))
	b = append(b, origin, 0, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, info)
	b = binary.NativeEndian.AppendUint32(b, key)
	return []uint64{binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:]), 0, 0}
}

// both is a control message of SO_TIMESTAMPING.
func both(software, hardware int64) []byte {
	return message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, uint64(software/1e9), uint64(software%1e9), 1, 1, uint64(hardware/1e9), uint64(hardware%1e9))
}

func TestStampsOfEveryKindAreRead(t *testing.T) {
	left4 := message(unix.SOL_IP, unix.IP_RECVERR, extended(unix.SO_EE_ORIGIN_TIMESTAMPING, 0, 1<<32-1)...)
	left6 := message(unix.SOL_IPV6, unix.IPV6_RECVERR, extended(unix.SO_EE_ORIGIN_TIMESTAMPING, 0, 63)...)
	icmp := message(unix.SOL_IP, unix.IP_RECVERR, extended(unix.SO_EE_ORIGIN_ICMP, 0, 9)...)
	ttl := message(unix.SOL_IP, unix.IP_TTL, 64)
	const software, hardware = 1_800_000_000_123_456_789, 1234_000_000_001
	for name, c := range map[string]struct {
		control []byte
		want    Stamps
	}{
		"nothing":               {nil, Stamps{}},
		"a packet that came":    {both(software, 0), Stamps{Software: software}},
		"came, interface too":   {slices.Concat(ttl, both(software, hardware)), Stamps{Software: software, Hardware: hardware}},
		"left":                  {slices.Concat(both(software, 0), left4), Stamps{Software: software, Left: true, Key: 1<<32 - 1}},
		"left, IPv6, interface": {slices.Concat(both(0, hardware), left6), Stamps{Hardware: hardware, Left: true, Key: 63}},
		"an error of ICMP":      {icmp, Stamps{}},
		"cut in the stamp":      {both(software, hardware)[:63], Stamps{}},
		"too short a stamp":     {message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 1, 2, 3, 4), Stamps{}},
		"cut behind the stamp":  {slices.Concat(both(software, 0), left4[:20]), Stamps{Software: software}},
		"of no length":          {slices.Concat(make([]byte, 16), both(software, 0)), Stamps{}},
	} {
		got := Stamps{Software: 1, Hardware: 2, Left: true, Key: 3} // of a packet before
		if got.Read(c.control); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// reference reads control messages with the parser of package unix.
func reference(control []byte) (s Stamps) {
	for len(control) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return s
		}
		time := func(at int) int64 {
			return int64(binary.NativeEndian.Uint64(data[at:]))*1e9 + int64(binary.NativeEndian.Uint64(data[at+8:]))
		}
		switch [2]int32{h.Level, h.Type} {
		case [2]int32{unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS}:
			if len(data) >= 16 {
				s.Software = time(0)
			}
		case [2]int32{unix.SOL_SOCKET, unix.SCM_TIMESTAMPING}:
			if len(data) >= 48 {
				s.Software, s.Hardware = time(0), time(32)
			}
		case [2]int32{unix.SOL_IP, unix.IP_RECVERR}, [2]int32{unix.SOL_IPV6, unix.IPV6_RECVERR}:
			if len(data) >= 16 && data[4] == unix.SO_EE_ORIGIN_TIMESTAMPING {
				s.Left, s.Key = true, binary.NativeEndian.Uint32(data[12:])
			}
		}
		control = rest
	}
	return s
}

func FuzzStampsRead(f *testing.F) {
	f.Add(slices.Concat(both(1_800_000_000_123_456_789, 5), message(unix.SOL_IP, unix.IP_RECVERR, extended(unix.SO_EE_ORIGIN_TIMESTAMPING, 1, 63)...)))
	f.Add(slices.Concat(stampOf(time.Now()), message(unix.SOL_IPV6, unix.IPV6_RECVERR, extended(unix.SO_EE_ORIGIN_TIMESTAMPING, 0, 7)...)))
	f.Add(message(unix.IPPROTO_IP, unix.IP_TTL, 64)[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		// The last message of a buffer may end short of its alignment; both ways of
		// reading leave what follows it alone.
		b = slices.Clip(b)
		var got Stamps
		if got.Read(b); got != reference(b) {
			t.Errorf("%x: %+v, want %+v", b, got, reference(b))
		}
	})
}

// TestEachSendHasADepartureTime also shows that a key counts what was sent
// before: datagrams, or the bytes of a stream.
func TestEachSendHasADepartureTime(t *testing.T) {
	for name, step := range map[string]uint32{"udp4": 1, "udp6": 1, "tcp": 100} {
		t.Run(name, func(t *testing.T) {
			conn := talking(t, name)
			raw, err := conn.(syscall.Conn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(make([]byte, 7)); err != nil { // of which nothing is asked
				t.Fatal(err)
			}
			control := make([]byte, 256)
			_ = raw.Control(func(fd uintptr) {
				if err := StampBothWays(int(fd), false); err != nil {
					t.Fatal(err)
				}
				for n := range uint32(20) {
					before := time.Now()
					if _, err := unix.Write(int(fd), make([]byte, 100)); err != nil {
						t.Fatal(err)
					}
					after := time.Now()
					got, ok := departure(int(fd), control)
					if want := (n+1)*step - 1; !ok || !got.Left || got.Key != want || got.Software < before.UnixNano() || got.Software > after.UnixNano() {
						t.Errorf("send %d: %v, %+v, want the key %d and a time from %d to %d", n, ok, got, want, before.UnixNano(), after.UnixNano())
					}
				}
				for range 5 {
					_, _ = unix.Write(int(fd), make([]byte, 100))
				}
				StampNoMore(int(fd))
				_, _ = unix.Write(int(fd), make([]byte, 100))
				if got, ok := departure(int(fd), control); ok {
					t.Errorf("a stamp that nobody asked for: %+v", got)
				}
			})
		})
	}
}

func departure(fd int, control []byte) (s Stamps, ok bool) {
	_, n, _, _, err := unix.Recvmsg(fd, nil, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return s, false
	}
	s.Read(control[:n])
	return s, true
}

// talking returns a connection over loopback to a peer that discards what it receives.
func talking(t *testing.T, network string) net.Conn {
	t.Helper()
	var at net.Addr
	if network == "tcp" {
		ln, err := net.Listen(network, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
		at = ln.Addr()
	} else {
		host := map[string]string{"udp4": "127.0.0.1", "udp6": "::1"}[network]
		far, err := net.ListenPacket(network, net.JoinHostPort(host, "0"))
		if err != nil {
			t.Skip("no loopback of this family:", err)
		}
		t.Cleanup(func() { _ = far.Close() })
		at = far.LocalAddr()
	}
	conn, err := net.Dial(network, at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestLoopbackHasNoClockOfItsOwn(t *testing.T) {
	for _, name := range []string{"lo", "there is no such interface", ""} {
		if StampsHardware(name) {
			t.Errorf("interface %q reports hardware stamps", name)
		}
	}
}

func TestReadingStampsAllocatesNothing(t *testing.T) {
	control := slices.Concat(both(1_800_000_000_123_456_789, 5), message(unix.SOL_IP, unix.IP_RECVERR, extended(unix.SO_EE_ORIGIN_TIMESTAMPING, 0, 63)...))
	var s Stamps
	if n := testing.AllocsPerRun(1000, func() { s.Read(control) }); n != 0 || s.Key != 63 {
		t.Errorf("%v allocations for %+v", n, s)
	}
}
