package udp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestAReceiverWithoutFinEndsByItself(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := freeport.Pair(t)
	mute := &noFin{a}
	o := options(300*time.Millisecond, 1, 8_000_000)
	s, r := both(t.Context(), []net.Conn{mute}, []net.Conn{b}, o, measure.Forward, nil, nil)
	if s.err != nil || r.err != nil {
		t.Fatal(s.err, r.err)
	}
	if n := r.end.Streams[0].Packets; n.Sent != n.Received || n.Received == 0 {
		t.Errorf("%+v", n)
	}
}

// If bytes end the flow, the FIN of one stream means that those of the others are due.
func TestALostFINDoesNotDelayTheReceiver(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := pairs(t, 2)
	a[1] = &noFin{a[1].(*net.UDPConn)}
	o := options(0, 2, 80_000_000)
	o.Bytes = 100_000
	began := time.Now()
	s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
	if s.err != nil || r.err != nil || time.Since(began) > usual.Idle/2 {
		t.Errorf("%v, %v after %v", s.err, r.err, time.Since(began))
	}
	if n, _, _ := total(r.end); n.Sent != n.Received || n.Sent != 72 {
		t.Errorf("%+v", n)
	}
}

type noFin struct{ *net.UDPConn }

func (c *noFin) Write(b []byte) (int, error) {
	if h, _ := parseHeader(b); h.fin {
		return len(b), nil
	}
	return c.UDPConn.Write(b)
}

func TestASenderThatVanishesIsAnErrorWithTheCountSoFar(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		a, b := freeport.Pair(t)
		ctx, cancel := context.WithCancel(t.Context())
		o := w.options(1600*time.Millisecond, 1, 8_000_000)
		o.Interval = measure.Duration(100 * time.Millisecond)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = Send(ctx, []net.Conn{a}, o, forward)
		}()
		defer func() { <-sent }()
		end, err := Receive(t.Context(), []net.Conn{b}, o, engine.Flow{Direction: measure.Forward, Observe: func(p measure.Progress) {
			if p.EndNs > 2e8 {
				cancel()
			}
		}})
		cancel()
		if measure.KindOf(err) != measure.KindBroken {
			t.Fatalf("error %v, want one of kind broken", err)
		}
		if _, _, n := total(end); n == 0 {
			t.Error("the partial count is empty")
		}
	})
}

func TestAReceiverThatEndedIsAnErrorOfTheSender(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		a, b := freeport.Pair(t)
		b.Close()
		l := usual
		l.refused = 100 * time.Millisecond
		end, err := send(t.Context(), []net.Conn{a}, w.options(time.Minute, 1, 8_000_000), forward, l)
		if measure.KindOf(err) != measure.KindBroken {
			t.Fatalf("error %v, want one of kind broken", err)
		}
		if end.Streams[0].Packets.Sent == 0 {
			t.Error("the partial count is empty")
		}
	})
}

func TestATemporaryRefusalIsNotAnError(t *testing.T) {
	tier.SpendsSeconds(t)
	a, b := freeport.Pair(t)
	back := &flaky{UDPConn: a}
	o := options(300*time.Millisecond, 1, 8_000_000)
	s, r := both(t.Context(), []net.Conn{back}, []net.Conn{b}, o, measure.Forward, nil, nil)
	if s.err != nil || r.err != nil {
		t.Fatal(s.err, r.err)
	}
	if n := r.end.Streams[0].Packets; n.Lost != 0 || n.Received == 0 {
		t.Errorf("%+v", n)
	}
	if back.refused == 0 {
		t.Error("nothing was refused")
	}
}

// flaky refuses every tenth call, and returns "no buffers" from some others.
type flaky struct {
	*net.UDPConn
	calls, refused int
}

func (c *flaky) Write(b []byte) (int, error) {
	c.calls++
	if c.calls%10 == 3 && c.calls < 50 {
		c.refused++
		return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", refusedErrno)}
	}
	if c.calls%10 == 5 {
		return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", fullErrno)}
	}
	return c.UDPConn.Write(b)
}

func TestTheContextEndsBothEndsAtOnce(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		for _, rate := range []measure.Rate{0, 1000, 8_000_000} {
			a, b := pairs(t, 3)
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			var lines atomic.Int64
			var at atomic.Int64
			stop := func(measure.Progress) {
				if lines.Add(1) == 1 {
					at.Store(time.Now().UnixNano())
					cancel(cause)
				}
			}
			o := w.options(time.Minute, 3, rate)
			o.Interval = measure.Duration(100 * time.Millisecond)
			s, r := both(ctx, a, b, o, measure.Forward, stop, stop)
			if took := time.Since(time.Unix(0, at.Load())); took > time.Second { // 0.1 s on an idle host
				t.Errorf("rate %v: both ends took %v to stop", rate, took)
			}
			if !errors.Is(s.err, cause) || !errors.Is(r.err, cause) {
				t.Errorf("errors %v and %v, want the context's cause", s.err, r.err)
			}
		}
	})
}

func TestNoDatagramAtAllIsAnError(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		_, b := freeport.Pair(t)
		l := usual
		l.First = 50 * time.Millisecond
		_, err := receive(t.Context(), []net.Conn{b}, w.options(time.Minute, 1, 0), forward, l)
		if measure.KindOf(err) != measure.KindBroken {
			t.Errorf("error %v, want one of kind broken", err)
		}
	})
}

func TestAStallBeforeAllBytesArrivedIsAnError(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		a, b := freeport.Pair(t)
		l := usual
		l.Idle = 150 * time.Millisecond
		d := make([]byte, 1400)
		header{}.put(d)
		if _, err := a.Write(d); err != nil {
			t.Fatal(err)
		}
		o := w.options(0, 1, 0)
		o.Bytes = 1 << 20
		end, err := receive(t.Context(), []net.Conn{b}, o, forward, l)
		if measure.KindOf(err) != measure.KindBroken || end.Streams[0].ReceivedBytes != 1400 {
			t.Errorf("error %v with %d bytes", err, end.Streams[0].ReceivedBytes)
		}
	})
}

func TestAMissingPathIsAUsageErrorOfItsEnd(t *testing.T) {
	a, b := freeport.Pair(t)
	o := options(time.Minute, 1, 0)
	o.TX, o.RX = "gso", "gro"
	if _, err := Send(t.Context(), []net.Conn{&noFin{a}}, o, forward); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("send: %v, want a usage error", err)
	}
	if _, err := Receive(t.Context(), []net.Conn{&noFin{b}}, o, forward); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("receive: %v, want a usage error", err)
	}
}

func TestADatagramThatNeedsFragmentsIsAnErrorWithTheSizeThatFits(t *testing.T) {
	tier.SpendsSeconds(t)
	here, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	defer here.Close()
	d, err := sock.DialerFor("udp", measure.Options{Own: Options{NoFragment: true}})
	if err != nil {
		t.Skip(err)
	}
	c, err := d.DialContext(t.Context(), "udp", here.LocalAddr().String())
	if measure.KindOf(err) == measure.KindUsage {
		t.Skip(err) // this system does not have it
	} else if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	mtu, ok := sock.PathMTU(c)
	if !ok || mtu-48 >= 65507 {
		t.Skip("loopback carries every datagram: ", mtu)
	}
	for _, path := range []string{"write", "batch"} {
		for size, fits := range map[int]bool{mtu - 48: true, mtu - 47: false} {
			o := options(100*time.Millisecond, 1, 10_000_000)
			o.Size, o.TX, o.Own = measure.Size(size), path, Options{NoFragment: true}
			_, err := Send(t.Context(), []net.Conn{c}, o, engine.Flow{Direction: measure.Forward, Observe: func(measure.Progress) {}})
			want := fmt.Sprintf("send datagrams of %d bytes to %s without fragments: the path carries packets of %d bytes; use --size %d or less", size, here.LocalAddr(), mtu, mtu-48)
			if fits && err != nil || !fits && (measure.KindOf(err) != measure.KindUsage || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("%s, %d bytes: %v", path, size, err)
			}
		}
	}
}
