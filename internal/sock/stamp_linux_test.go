package sock

import (
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// message is a control message as the kernel lays it out (cmsg(3)).
func message(level, kind int32, data ...uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(unix.CmsgLen(8*len(data))))
	b = binary.NativeEndian.AppendUint32(b, uint32(level))
	b = binary.NativeEndian.AppendUint32(b, uint32(kind))
	for _, d := range data {
		b = binary.NativeEndian.AppendUint64(b, d)
	}
	return b
}

func stampOf(at time.Time) []byte {
	return message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, uint64(at.Unix()), uint64(at.Nanosecond()))
}

func TestAnImpossibleStampIsIgnored(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]time.Duration{
		50 * time.Microsecond: 50 * time.Microsecond, 0: 0, -time.Microsecond: 0, time.Hour: 0, -time.Hour: 0,
	} {
		if got := Late(Stamped(stampOf(now.Add(-d))), now); got != want {
			t.Errorf("stamped %v before: %v late, want %v", d, got, want)
		}
	}
}

func TestAStampIsFoundBehindOtherMessages(t *testing.T) {
	now := time.Now()
	other := message(unix.IPPROTO_IP, unix.IP_TTL, 64)
	stamp := stampOf(now)
	if got := Stamped(slices.Concat(other, stamp)); !got.Equal(now) {
		t.Errorf("arrived %v instead of %v", got, now)
	}
	for name, b := range map[string][]byte{"none": nil, "another": other, "cut": stamp[:len(stamp)-1], "short": message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, 1)} {
		if got := Stamped(b); !got.IsZero() || Late(got, now) != 0 {
			t.Errorf("%s: arrived %v", name, got)
		}
	}
}

func TestReadingWithAStampAllocatesNothing(t *testing.T) {
	in, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := net.DialUDP("udp4", nil, in.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	file, err := in.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd()) // blocking from here on
	if err := Stamp(fd, true); err != nil {
		t.Fatal(err)
	}
	var r StampedReader
	b, said := make([]byte, 100), []byte("hello")
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := out.Write(said); err != nil {
			t.Fatal(err)
		}
		if n, _, err := r.Read(fd, b); n != 5 || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
}

func FuzzStamped(f *testing.F) {
	now := time.Now()
	f.Add(stampOf(now))
	f.Add(slices.Concat(message(unix.IPPROTO_IP, unix.IP_TTL, 64), stampOf(now)))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if late := Late(Stamped(b), now); late < 0 || late > time.Second {
			t.Errorf("%x: %v late", b, late)
		}
	})
}
