package udp

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestALosslessPathLosesNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, c := range []struct {
		name    string
		streams int
		bytes   measure.Size
	}{{"one stream", 1, 0}, {"many streams", 50, 0}, {"bytes", 3, 300_000}, {"fewer datagrams than streams", 7, 1500}} {
		t.Run(c.name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, w way) {
				o := w.options(200*time.Millisecond, c.streams, 10_000_000)
				if o.Bytes = c.bytes; o.Bytes > 0 {
					o.Duration = 0
				}
				a, b := pairs(t, c.streams)
				s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
				if s.err != nil || r.err != nil {
					t.Fatalf("send: %v; receive: %v", s.err, r.err)
				}
				sent, bytes, _ := total(s.end)
				got, _, received := total(r.end)
				if sent.Sent != got.Sent || got.Lost != 0 || got.Received != sent.Sent || bytes != received {
					t.Errorf("sent %+v (%d bytes), received %+v (%d bytes)", sent, bytes, got, received)
				}
				want := int64(10_000_000/8*2/10/1400) + 1
				if c.bytes > 0 {
					want = (int64(c.bytes) + 1399) / 1400
				}
				// A busy host may send less, but never more.
				if sent.Sent < want/3 || sent.Sent > want+1 || c.bytes > 0 && sent.Sent != want {
					t.Errorf("sent %d datagrams, want %d", sent.Sent, want)
				}
				if s.end.Path != w.tx || r.end.Path != w.rx {
					t.Errorf("took %s and %s, want %s and %s", s.end.Path, r.end.Path, w.tx, w.rx)
				}
			})
		})
	}
}

func TestBothDirectionsAtOnce(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		const n = 4
		o := w.options(400*time.Millisecond, n, 8_000_000)
		a, b := pairs(t, 2*n)
		var s2, r2 outcome
		done := make(chan struct{})
		go func() {
			defer close(done)
			s2, r2 = both(t.Context(), b[n:], a[n:], o, measure.Reverse, nil, nil)
		}()
		s1, r1 := both(t.Context(), a[:n], b[:n], o, measure.Forward, nil, nil)
		<-done
		for _, f := range [][2]outcome{{s1, r1}, {s2, r2}} {
			sent, bytes, _ := total(f[0].end)
			got, _, received := total(f[1].end)
			if f[0].err != nil || f[1].err != nil || bytes == 0 || bytes != received || got.Received != sent.Sent {
				t.Errorf("%s: sent %d, received %d bytes; %v, %v", f[0].end.Direction, bytes, received, f[0].err, f[1].err)
			}
		}
		if s1.end.Streams[0].Local != r1.end.Streams[0].Local || s1.end.Streams[0].Local != a[0].LocalAddr().String() {
			t.Errorf("the ends name the client's address %q and %q", s1.end.Streams[0].Local, r1.end.Streams[0].Local)
		}
		if s2.end.Streams[0].Local != a[n].LocalAddr().String() {
			t.Errorf("in reverse the client's address is %q, want %q", s2.end.Streams[0].Local, a[n].LocalAddr())
		}
	})
}

// through connects client and server by an impaired path: a goroutine between two pairs
// of sockets, which ends with the test. n counts the datagrams from 0; FINs pass
// unchanged.
func through(t *testing.T, path func(n int, datagram []byte, send func([]byte))) (client, server *net.UDPConn) {
	client, near := freeport.Pair(t)
	far, server := freeport.Pair(t)
	send := func(b []byte) { _, _ = far.Write(b) }
	relay(t, near, func(n int, d []byte) { path(n, d, send) }, send)
	return client, server
}

// relay passes what near receives to path, until the test ends, and FINs to last.
func relay(t *testing.T, near *net.UDPConn, path func(n int, datagram []byte), last func(fin []byte)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for n := 0; ; {
			k, err := near.Read(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			switch h, _ := parseHeader(buf[:k]); {
			case err != nil:
			case h.fin:
				last(buf[:k])
			default:
				path(n, buf[:k])
				n++
			}
		}
	}()
	t.Cleanup(func() { near.Close(); <-done })
}

func TestLossReorderingAndDuplicatesAreFound(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		var worse disorder
		a, b := through(t, func(n int, d []byte, send func([]byte)) {
			worse.pass(n, d, send)
			if n == 150 || n == 151 {
				send([]byte("a datagram of somebody else, long enough to have a header"))
			}
		})
		r := transfer(t, a, b, w)
		worse.check(t, r)
	})
}

// A host that joins datagrams joins them across a gap, too.
func TestLossReorderingAndDuplicatesAreFoundWithinATrain(t *testing.T) {
	for _, w := range ways(t) {
		if w.rx != "gro" {
			continue
		}
		var worse disorder
		var train [][]byte
		far, b := freeport.Pair(t)
		out := datagram.NewSender(datagram.GSO, 1400)
		writer, err := out.Open(far)
		if err != nil {
			t.Fatal(err)
		}
		// Joined again before it is forwarded, with the fault in the middle.
		flush := func() {
			for i, d := range train {
				copy(out.Datagrams(len(train))[i*1400:], d)
			}
			if n, err := writer.Send(len(train)); err != nil || n != len(train) {
				t.Errorf("sent %d of a train of %d, %v", n, len(train), err)
			}
			train = train[:0]
		}
		a, near := freeport.Pair(t)
		relay(t, near, func(n int, d []byte) {
			worse.pass(n, d, func(d []byte) { train = append(train, bytes.Clone(d)) })
			if len(train) >= 40 || n == disordered-1 {
				flush()
			}
		}, func(fin []byte) { _, _ = far.Write(fin) })
		r := transfer(t, a, b, w)
		worse.check(t, r)
		if p := r.end.Streams[0].Packets; p.Joined < p.Received/2 {
			t.Errorf("only %d of %d came joined", p.Joined, p.Received)
		}
	}
}

// disordered is the number of datagrams that a disorder handles.
const disordered = 200

// disorder is a path that loses, reorders and doubles some of disordered datagrams.
type disorder struct{ held []byte }

func (p *disorder) pass(n int, d []byte, send func([]byte)) {
	switch {
	case n == 100: // comes after 101 and 102
		p.held = bytes.Clone(d)
		return
	case n%50 == 7 || n >= 195: // lost, also at the tail
		return
	}
	send(d)
	switch n {
	case 102:
		send(p.held)
	case 150, 151:
		send(d)
	}
}

// check compares what a receiver found with what the path did.
func (p *disorder) check(t *testing.T, r outcome) {
	t.Helper()
	got := *r.end.Streams[0].Packets
	got.JitterNs, got.SocketDrops, got.Joined = 0, nil, 0
	want := measure.PacketCount{Sent: disordered, Received: 191, Lost: 9, Reordered: 1, Duplicated: 2}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := r.end.Streams[0].ReceivedBytes; n != 191*1400 {
		t.Errorf("counted %d bytes, want those of 191 datagrams, duplicates not", n)
	}
	var lost int64
	for _, x := range r.end.Samples {
		lost += x.Lost
	}
	if lost != 5 { // four, and the late one; losses at the tail are noticed only at the end
		t.Errorf("intervals found %d missing, want 5", lost)
	}
}

// transfer sends disordered datagrams from a to b.
func transfer(t *testing.T, a, b net.Conn, w way) outcome {
	t.Helper()
	o := w.options(0, 1, 20_000_000)
	o.Bytes = disordered * o.Size
	s, r := both(t.Context(), []net.Conn{a}, []net.Conn{b}, o, measure.Forward, nil, nil)
	if s.err != nil || r.err != nil {
		t.Fatal(s.err, r.err)
	}
	return r
}

func TestJitterIsThatOfTheArrivals(t *testing.T) {
	var j jitter
	// Transit alternates between 0 and 1 ms, so that |D| is always 1 ms.
	for i := range int64(200) {
		j.add(i*1e6, 5e9+i*1e6+(i%2)*1e6)
	}
	if j.ns < 0.99e6 || j.ns > 1e6 {
		t.Errorf("jitter %v ns, want close to 1 ms", j.ns)
	}
	j.add(-1<<63, 1)
	j.add(1<<62, 1)
	if j.ns < 0 || j.ns > 1.1e6 {
		t.Errorf("jitter %v ns after a hostile time", j.ns)
	}
}

func TestOmitLeavesTheStartOut(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		o := w.options(400*time.Millisecond, 2, 8_000_000)
		o.Omit = measure.Duration(300 * time.Millisecond)
		a, b := pairs(t, 2)
		s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
		if s.err != nil || r.err != nil {
			t.Fatal(s.err, r.err)
		}
		whole := int64(8_000_000 * 0.7 / 8)
		_, bytes, _ := total(s.end)
		n, _, received := total(r.end)
		if bytes > whole*4/5 || received > whole*4/5 || received == 0 {
			t.Errorf("counted %d sent and %d received of %d bytes in all, want 4/7 of them", bytes, received, whole)
		}
		if n.Lost != 0 || n.Sent != n.Received || n.Received*1400 != received {
			t.Errorf("after the omitted part: %+v, %d bytes", n, received)
		}
		if first := r.end.Samples[0].StartNs; first != 0 {
			t.Errorf("the first sample starts at %d, want 0", first)
		}
	})
}

// A receiver that cannot keep up is distinguished from a lossy path.
func TestDropsAtTheReceiversSocketAreCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		a, b := freeport.Pair(t)
		if datagram.DropsOf(b) == nil {
			t.Skip("this system does not report drops")
		}
		if err := b.SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		d := make([]byte, 1400)
		for i := range 100 { // while the receiver does not read
			header{seq: uint64(i)}.put(d)
			if _, err := a.Write(d); err != nil {
				t.Fatal(err)
			}
		}
		header{fin: true, seq: 100}.put(d)
		o := w.options(100*time.Millisecond, 1, 0)
		r := make(chan outcome)
		go func() {
			end, err := Receive(t.Context(), []net.Conn{b}, o, forward)
			r <- outcome{end, err}
		}()
		for {
			_, _ = a.Write(d[:headerSize]) // until there is room for it
			select {
			case got := <-r:
				p := got.end.Streams[0].Packets
				if got.err != nil || p.SocketDrops == nil || p.Lost == 0 || *p.SocketDrops < p.Lost {
					t.Errorf("%+v, %v", p, got.err)
				}
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}

func TestSendingAndReceivingDoNotAllocate(t *testing.T) {
	for _, w := range ways(t) {
		a, b := freeport.Pair(t)
		conns := []net.Conn{a}
		rec := meter.NewRecorder(meter.Config{Role: measure.Sender, Conns: conns})
		s := &sender{flow: &flow{o: w.options(time.Minute, 1, 0), conns: conns, ending: sock.NewGroup(conns).Watch(nil, 0)}, begin: time.Now()}
		d := &driver{sender: s, lanes: make([]*lane, 1), box: datagram.NewSender(w.tx, 1400)}
		out, err := d.box.Open(a)
		if err != nil {
			t.Fatal(err)
		}
		l := &lane{out: out, cell: rec.Cell(0)}

		box, err := datagram.NewReceiver(w.rx, 1400)
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		r := &receiver{
			flow: &flow{conns: []net.Conn{b}, rec: rec, group: sock.NewGroup(conns), ending: sock.NewGroup(conns).Watch(nil, 0)}, epoch: time.Now(), first: sock.NewFirst(), expiry: sock.NewExpiry(sock.NewGroup(conns)),
			sent: []int64{unknown}, reported: make([]bool, 1),
		}
		in, err := r.listen(0, box)
		if err != nil {
			t.Fatal(err)
		}
		r.begin(time.Now())
		_ = b.SetReadDeadline(time.Now().Add(10 * time.Second))
		worker := &drain{receiver: r, box: box, streams: []*listener{in}, open: 1}
		if n := testing.AllocsPerRun(200, func() {
			if !d.send(l, d.turn()) {
				t.Fatal("the flow has ended")
			}
			for in.sequence.next < l.count.Packets {
				worker.visit(in)
				worker.rest.after(1, time.Now())
			}
		}); n > 0 {
			t.Errorf("%s to %s: %v allocations", w.tx, w.rx, n)
		}
	}
}
