package server

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

func udpOptions(change ...func(*measure.Options)) measure.Options {
	return options(measure.TestUDP, change...)
}

// bothWays runs a test with the kernel and with the portable code separating UDP peers.
func bothWays(t *testing.T, f func(t *testing.T, change func(*Server))) {
	if demuxInKernel {
		t.Run("kernel", func(t *testing.T) { f(t, func(*Server) {}) })
	}
	t.Run("portable", func(t *testing.T) { f(t, portable) })
}

func TestUDPFlowsOfManyClientsAreSeparated(t *testing.T) {
	bothWays(t, func(t *testing.T, change func(*Server)) {
		s := serve(t, Config{}, change)
		var wg sync.WaitGroup
		for i := range 8 {
			c := s.open(measure.TestUDP, udpOptions(func(o *measure.Options) { o.Streams = 4 }))
			wg.Go(func() {
				conns := c.udp()
				c.start()
				for j, conn := range conns {
					for range j + 1 {
						_, _ = conn.Write(make([]byte, 100+i))
					}
					_, _ = conn.Write([]byte("end"))
				}
				end := c.finish()
				for j, st := range end.Flows[0].Streams {
					if want := int64((j+1)*(100+i) + 3); st.ReceivedBytes != want {
						t.Errorf("client %d stream %d: %d bytes, want %d", i, j, st.ReceivedBytes, want)
					}
				}
			})
		}
		wg.Wait()
		s.free()
	})
}

func TestUDPReverseReachesTheClient(t *testing.T) {
	bothWays(t, func(t *testing.T, change func(*Server)) {
		s := serve(t, Config{}, change)
		c := s.open(measure.TestUDP, udpOptions(func(o *measure.Options) { o.Direction = measure.Reverse }))
		conn := c.udp()[0]
		if _, ok := conn.(*net.UDPConn); !ok {
			t.Errorf("a %T", conn)
		}
		c.start()
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		buf := make([]byte, 100)
		if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "end" {
			t.Errorf("%q, %v", buf[:n], err)
		}
		c.finish()
	})
}

// handshaker is a UDP socket that speaks the handshake by hand.
type handshaker struct {
	t    *testing.T
	conn net.Conn
}

func (r *running) handshaker() handshaker {
	r.t.Helper()
	c, err := net.Dial("udp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return handshaker{r.t, c}
}

func (h handshaker) send(d native.Datagram) {
	d.Version = native.Version
	_, _ = h.conn.Write(d.Append(nil))
}

func (h handshaker) receive(limit time.Duration) (native.Datagram, bool) {
	h.t.Helper()
	_ = h.conn.SetReadDeadline(time.Now().Add(limit))
	buf := make([]byte, 2000)
	n, err := h.conn.Read(buf)
	if err != nil {
		return native.Datagram{}, false
	}
	d, err := native.ParseDatagram(buf[:n])
	if err != nil {
		h.t.Fatalf("received % x", buf[:n])
	}
	return d, true
}

// silent asserts that nothing came, after something that is answered for sure.
func (h handshaker) silent(key native.Key, what string) {
	h.t.Helper()
	h.send(native.Datagram{Type: native.Hello, Index: 0, Key: key})
	d, ok := h.receive(prompt)
	if !ok || d.Type != native.Challenge || d.Index != 0 {
		h.t.Errorf("%s: answered with type %d for index %d", what, d.Type, d.Index)
	}
}

func (r *running) udpSession(streams int) native.Created {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return askUDPSession(r.t, c, streams)
}

func askUDPSession(t *testing.T, c net.Conn, streams int) native.Created {
	t.Helper()
	body := fmt.Sprintf(`{"test":"udp","options":{"duration_ns":1000000000,"interval_ns":1000000000,"connect_timeout_ns":1000000000,"port":1,"direction":"forward","streams":%d,"size_bytes":1000}}`, streams)
	_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", native.SessionsPath, len(body), body)
	return readCreated(t, c)
}

func TestNothingIsAnsweredWithoutAValidKey(t *testing.T) {
	s := serve(t, Config{})
	created := s.udpSession(2)
	tcp := s.raw(tcpOptions())
	h := s.handshaker()
	wrong := created.Key
	wrong[31]++
	h.send(native.Datagram{Type: native.Hello, Index: 1, Key: wrong})
	h.silent(created.Key, "an unknown key")
	h.send(native.Datagram{Type: native.Hello, Index: 1, Key: tcp.created.Key})
	h.silent(created.Key, "the key of a TCP session")
	for _, garbage := range [][]byte{nil, []byte("x"), []byte("SOKH"), make([]byte, 64), make([]byte, 1400)} {
		_, _ = h.conn.Write(garbage)
	}
	h.silent(created.Key, "garbage")
	h.send(native.Datagram{Type: native.Proof, Index: 1, Key: created.Key, Nonce: [16]byte{1}})
	h.silent(created.Key, "a wrong proof")
}

func TestTheProofIsBoundToTheAddressAndTheIndex(t *testing.T) {
	s := serve(t, Config{})
	created := s.udpSession(2)
	h, other := s.handshaker(), s.handshaker()
	h.send(native.Datagram{Type: native.Hello, Index: 1, Key: created.Key})
	challenge, ok := h.receive(prompt)
	if !ok || challenge.Type != native.Challenge || challenge.Key != (native.Key{}) {
		t.Fatalf("%+v, %v", challenge, ok)
	}
	proof := native.Datagram{Type: native.Proof, Index: 1, Key: created.Key, Nonce: challenge.Nonce}
	other.send(proof)
	other.silent(created.Key, "a proof from another address")
	elsewhere := proof
	elsewhere.Index = 0
	h.send(elsewhere)
	h.silent(created.Key, "a proof for another index")
	for range 3 { // repetitions are answered alike
		h.send(proof)
		if d, ok := h.receive(prompt); !ok || d.Type != native.Accept || d.Nonce != challenge.Nonce {
			t.Errorf("%+v, %v", d, ok)
		}
	}
	other.send(native.Datagram{Type: native.Hello, Index: 1, Key: created.Key})
	if d, _ := other.receive(prompt); d.Type == native.Challenge {
		proof.Nonce = d.Nonce
		other.send(proof)
		if d, ok := other.receive(prompt); !ok || d.Type != native.Refuse {
			t.Errorf("a second peer for an index: %+v, %v", d, ok)
		}
	}
}

func TestAnIndexOutOfRangeIsRefused(t *testing.T) {
	s := serve(t, Config{})
	created := s.udpSession(1)
	h := s.handshaker()
	h.send(native.Datagram{Type: native.Hello, Index: 1, Key: created.Key})
	d, _ := h.receive(prompt)
	h.send(native.Datagram{Type: native.Proof, Index: 1, Key: created.Key, Nonce: d.Nonce})
	if d, ok := h.receive(prompt); !ok || d.Type != native.Refuse {
		t.Errorf("%+v, %v", d, ok)
	}
}

func TestLostHandshakeDatagramsAreSentAgain(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	// The client reaches the server through a relay that loses the first of each step.
	s := serve(t, Config{}, portable)
	relayed := lossyRelay(t, s.addr)
	o := udpOptions()
	session, err := native.Open(t.Context(), relayed, s.request(measure.TestUDP, o), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.UDP(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBlockedUDPDiffersFromABrokenPath(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, Config{})
	o := udpOptions(func(o *measure.Options) { o.ConnectTimeout = measure.Duration(300 * time.Millisecond) })
	c := s.open(measure.TestUDP, o)
	_ = s.own.udp.Close()
	begin := time.Now()
	_, err := c.UDP(t.Context())
	if measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "while TCP to the same port works") || !strings.Contains(err.Error(), "blocked?") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > prompt {
		t.Errorf("took %s", d)
	}
}

// allowOnly is a server for one address that is not 127.0.0.1, and a UDP session that came from there.
func allowOnly(t *testing.T, allowed net.IP) (*running, native.Created) {
	t.Helper()
	s := serve(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix(allowed.String() + "/32")}})
	control, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: allowed}}).Dial("tcp", s.addr)
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	return s, askUDPSession(t, control, 1)
}

func TestAllowHoldsForDataConnections(t *testing.T) {
	s, created := allowOnly(t, net.IPv4(127, 0, 0, 2))
	data := native.Preamble{Version: native.Version + 1, Kind: native.KindData, Key: created.Key}.Append(nil)
	if answer := s.speak(string(data)); answer != "" { // from 127.0.0.1; others learn that the version is wrong
		t.Errorf("TCP was answered with % x", answer)
	}
	h := s.handshaker() // from 127.0.0.1
	h.send(native.Datagram{Type: native.Hello, Key: created.Key})
	if d, ok := h.receive(100 * time.Millisecond); ok {
		t.Errorf("answered with %+v", d)
	}
}

func TestTheAllowedAddressIsAnsweredOverUDP(t *testing.T) {
	allowed := net.IPv4(127, 0, 0, 2)
	s, created := allowOnly(t, allowed)
	c, err := (&net.Dialer{LocalAddr: &net.UDPAddr{IP: allowed}}).Dial("udp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	handshaker{t, c}.silent(created.Key, "the allowed address")
}

func TestAPeerOfTheSharedSocketBehavesLikeAConnection(t *testing.T) {
	shared, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	d := newDemux(shared)
	peer := netip.MustParseAddrPort("127.0.0.1:9")
	p := d.add(peer, shared.LocalAddr().(*net.UDPAddr).AddrPort())
	buf := make([]byte, 8)

	d.deliver(peer, []byte("one"))
	d.deliver(netip.MustParseAddrPort("127.0.0.1:10"), []byte("not for us"))
	d.deliver(peer, []byte("longer than the buffer"))
	for _, want := range []string{"one", "longer t"} {
		if n, err := p.Read(buf); err != nil || string(buf[:n]) != want {
			t.Errorf("read %q, %v", buf[:n], err)
		}
	}
	wait := func(name string, want error, wake func()) {
		t.Helper()
		got := make(chan error, 1)
		go func() { _, err := p.Read(make([]byte, 8)); got <- err }()
		wake()
		select {
		case err := <-got:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(prompt):
			t.Fatalf("%s: the reader still waits", name)
		}
	}
	wait("a deadline that passes", os.ErrDeadlineExceeded, func() { _ = p.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) })
	if _, err := p.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	_ = p.SetReadDeadline(time.Time{})
	d.deliver(peer, []byte("again"))
	if n, err := p.Read(buf); err != nil || string(buf[:n]) != "again" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	_ = p.SetReadDeadline(time.Now().Add(time.Hour))
	wait("a deadline moved into the past", os.ErrDeadlineExceeded, func() { _ = p.SetReadDeadline(time.Unix(1, 0)) })
	_ = p.SetReadDeadline(time.Time{})

	for range 3000 {
		d.deliver(peer, bytes.Repeat([]byte("x"), 1000))
	}
	if p.waiting > maxWaiting {
		t.Errorf("%d bytes wait", p.waiting)
	}
	for p.waiting > 0 {
		if _, err := p.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	wait("close", net.ErrClosed, func() { _ = p.Close() })
	if _, err := p.Write(buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	if len(d.peers) != 0 {
		t.Error("the peer is still known")
	}
}

func FuzzDatagramFromOutside(f *testing.F) {
	f.Add(native.Datagram{Version: 1, Type: native.Hello}.Append(nil))
	f.Add(native.Datagram{Version: 1, Type: native.Proof, Index: 65535}.Append(nil))
	s, err := newServer(Config{Listen: "127.0.0.1:0"}, fakes())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.closePorts)
	ss, err := newSession(s.base)
	if err != nil {
		f.Fatal(err)
	}
	ss.key, ss.test, ss.options = native.Key{}, measure.TestUDP, options(measure.TestUDP)
	ss.expect()
	s.sessions.byKey[ss.key] = ss
	from := netip.MustParseAddrPort("127.0.0.1:1")
	f.Fuzz(func(t *testing.T, b []byte) {
		s.datagram(s.own, from, b)
		if ss.have > 0 {
			t.Fatal("a flow was opened without a proof")
		}
	})
}
