//go:build linux

package datagram

import (
	"encoding/binary"
	"testing"
	"time"

	"soku/test/freeport"

	"golang.org/x/sys/unix"
)

func controlMessage(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	binary.NativeEndian.PutUint64(b, uint64(unix.CmsgLen(len(data))))
	binary.NativeEndian.PutUint32(b[8:], uint32(level))
	binary.NativeEndian.PutUint32(b[12:], uint32(kind))
	copy(b[unix.SizeofCmsghdr:], data)
	return b
}

func FuzzControl(f *testing.F) {
	stamp := make([]byte, 16)
	binary.NativeEndian.PutUint64(stamp, 1_700_000_000)
	segment := []byte{0x78, 5, 0, 0}
	f.Add(append(controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, stamp), controlMessage(unix.SOL_UDP, unix.UDP_GRO, segment)...))
	f.Add(controlMessage(unix.SOL_UDP, unix.UDP_GRO, segment[:2]))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 127, 1, 0, 0, 0, 35, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, segment := parseControl(b); segment < 0 {
			t.Errorf("segments of %d bytes", segment)
		}
	})
}

func TestControlMessagesHoldArrivalAndSegmentLength(t *testing.T) {
	stamp := make([]byte, 16)
	binary.NativeEndian.PutUint64(stamp, 1_700_000_000)
	binary.NativeEndian.PutUint64(stamp[8:], 12345)
	segment := make([]byte, 4)
	binary.NativeEndian.PutUint32(segment, 1400)
	b := append(controlMessage(unix.SOL_UDP, unix.UDP_GRO, segment), controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, stamp)...)
	at, n := parseControl(b)
	if n != 1400 || !at.Equal(time.Unix(1_700_000_000, 12345)) {
		t.Errorf("read %v and %d", at, n)
	}
	if n := testing.AllocsPerRun(100, func() { parseControl(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTheKernelCountsDropsAtAFullQueue(t *testing.T) {
	a, b := freeport.Pair(t)
	if err := b.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	drops := DropsOf(b)
	if drops == nil {
		t.Skip("this kernel does not report drops (SO_MEMINFO)")
	}
	const sent = 200
	for range sent {
		if _, err := a.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	received := 0
	r, in := inlet(t, Batch, 1000, b)
	for len(r.Ready(50*time.Millisecond)) > 0 {
		n, err := in.Receive()
		if err != nil {
			t.Fatal(err)
		}
		received += n
	}
	if n, ok := drops.Count(); !ok || received == sent || int(n) != sent-received {
		t.Errorf("%d of %d came and the kernel counts %d drops, %v", received, sent, n, ok)
	}
	if n := testing.AllocsPerRun(100, func() { drops.Count() }); n > 0 {
		t.Errorf("%v allocations a count", n)
	}
}

func TestATrainOfTheMostSegmentsArrivesAsOne(t *testing.T) {
	if supported(GSO) != nil || supported(GRO) != nil {
		t.Skip("this kernel splits and joins no datagrams")
	}
	a, b := freeport.Pair(t)
	const size = 40
	r, in := inlet(t, GRO, size, b)
	s := NewSender(GSO, size)
	out, err := s.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := out.Send(segmentsMost()); n != segmentsMost() || err != nil {
		t.Fatalf("sent %d of %d, %v", n, segmentsMost(), err)
	}
	r.Ready(5 * time.Second)
	if _, err := in.Receive(); err != nil {
		t.Fatal(err)
	}
	train, _ := r.Next()
	n := 0
	for _, length, ok := train.Next(); ok && length == size; _, length, ok = train.Next() {
		n++
	}
	if n != segmentsMost() {
		t.Errorf("a train of %d datagrams, want %d", n, segmentsMost())
	}
}

func TestOnlyManyInletsUseEpoll(t *testing.T) {
	r, err := NewReceiver(Batch, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range few + 1 {
		_, b := freeport.Pair(t)
		if _, err := r.Open(b); err != nil {
			t.Fatal(err)
		}
		if hears := r.calls.epoll >= 0; hears != (i == few) {
			t.Errorf("of %d inlets: %v", i+1, hears)
		}
	}
}
