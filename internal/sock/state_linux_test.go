package sock

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

func TestTheStateOfASocketIsThatOfTCPInfo(t *testing.T) {
	c, _, err := dialled(t, measure.Options{Own: own{MSS: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	info, _ := TCPInfo(c)
	for info.AckedBytes < 5000 {
		info, _ = TCPInfo(c)
	}
	var s State
	r := NewStateReader(c)
	if !r.Read(&s) {
		t.Fatal("nothing is read")
	}
	if s.SentBytes != info.SentBytes || s.AckedBytes != info.AckedBytes || s.SegmentsOut != info.DataSegsOut || s.RTTNs != info.RTTNs || s.MSSBytes != info.MSS ||
		s.CwndBytes != info.CwndSegments*info.MSS || s.SndWndBytes != info.SndWndBytes || s.PMTUBytes != info.PMTU || s.AppLimited != 1 || s.UnackedBytes != 0 || s.SendBufferBytes <= 0 {
		t.Errorf("%+v, TCP_INFO has %+v", s, info)
	}
	if allocated := testing.AllocsPerRun(100, func() { r.Read(&s) }); allocated != 0 {
		t.Errorf("a reading allocates %v times", allocated)
	}
	_ = c.Close()
	if r.Read(&s) {
		t.Error("a closed socket has a state")
	}
}

// A kernel before 6.7 does not count timeouts, one before 4.6 no segments.
func TestWhatAnOlderKernelDoesNotWriteIsNotKnown(t *testing.T) {
	r := &StateReader{raw: noSocket{}}
	r.info.Bytes_acked, r.info.Data_segs_out, r.info.Total_rto, r.info.Total_retrans = 7, 8, 9, 10
	for length, want := range map[uintptr][4]int64{
		unsafe.Sizeof(r.info):               {7, 8, 9, 10},
		unsafe.Offsetof(r.info.Total_rto):   {7, 8, NotKnown, 10},
		unsafe.Offsetof(r.info.Segs_out):    {7, NotKnown, NotKnown, 10},
		unsafe.Offsetof(r.info.Pacing_rate): {NotKnown, NotKnown, NotKnown, 10},
		0:                                   {NotKnown, NotKnown, NotKnown, NotKnown},
	} {
		var s State
		r.length, r.known = uint32(length), memInfos
		if !r.Read(&s) {
			t.Fatal("nothing is read")
		}
		if got := [4]int64{s.AckedBytes, s.SegmentsOut, s.Timeouts, s.Retransmits}; got != want {
			t.Errorf("%d bytes: %v, want %v", length, got, want)
		}
	}
	var s State
	if r.length, r.known = 0, 0; r.Read(&s) {
		t.Error("a socket that reports nothing has a state")
	}
}

// noSocket has a state that was read before.
type noSocket struct{}

func (noSocket) Control(func(uintptr)) error    { return nil }
func (noSocket) Read(func(uintptr) bool) error  { return unix.EBADF }
func (noSocket) Write(func(uintptr) bool) error { return unix.EBADF }

func TestAConnectionThatAnswersAcknowledgesAtOnceWhenAsked(t *testing.T) {
	c, _, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0) }); err != nil {
		t.Fatal(err)
	}
	if got := intOption(t, c, unix.IPPROTO_TCP, unix.TCP_QUICKACK); got != 0 {
		t.Fatalf("TCP_QUICKACK is %d", got)
	}
	if AcknowledgeAtOnce(c); intOption(t, c, unix.IPPROTO_TCP, unix.TCP_QUICKACK) != 1 {
		t.Error("acknowledgements are still delayed")
	}
}
