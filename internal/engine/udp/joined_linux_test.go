package udp

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock/datagram"
	"soku/test/freeport"
)

// The kernel counts a dropped train once, whatever its length.
func TestADroppedTrainCountsAsAllItsDatagrams(t *testing.T) {
	const trains, length = 20, 10
	a, b := freeport.Pair(t)
	raw, err := b.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1) }); err != nil || inner != nil {
		t.Skipf("this system joins no datagrams: %v, %v", err, inner)
	}
	if datagram.DropsOf(b) == nil { // Linux reported drops before it joined datagrams
		t.Fatal("drops are not reported")
	}
	if err := b.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	box := datagram.NewSender(datagram.GSO, 1400)
	out, err := box.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trains { // before the first read
		header{seq: uint64(i * length)}.putAll(box.Datagrams(length), 1400)
		if n, err := out.Send(length); n != length || err != nil {
			t.Fatalf("sent %d: %v", n, err)
		}
	}
	o := measure.Options{Duration: measure.Duration(100 * time.Millisecond), Size: 1400, Streams: 1, RX: datagram.GRO}
	done := make(chan outcome, 1)
	go func() {
		end, err := Receive(t.Context(), []net.Conn{b}, o, forward)
		done <- outcome{end, err}
	}()
	fin := make([]byte, headerSize)
	header{fin: true, seq: trains * length}.put(fin)
	for {
		_, _ = a.Write(fin) // until there is room for it
		select {
		case got := <-done:
			p := got.end.Streams[0].Packets
			if got.err != nil || p.Joined == 0 || p.Joined != p.Received || p.Lost != p.Sent-p.Received || *p.SocketDrops < p.Lost {
				t.Errorf("%+v with %d dropped, %v", p, *p.SocketDrops, got.err)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
