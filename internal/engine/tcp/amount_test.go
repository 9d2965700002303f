package tcp

import (
	"io"
	"sync"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/loopback"
	"soku/test/tier"
)

func TestTheOmittedStartDoesNotCountTowardsBytes(t *testing.T) {
	tier.SpendsSeconds(t)
	forEachWay(t, func(t *testing.T, w way) {
		from := endless(2)
		from.Bytes, from.Omit = 5<<20, measure.Duration(100*time.Millisecond)
		to := endless(2)
		to.Omit = from.Omit
		if s, _ := w.keepOpenBoth(t, from, to); s.err != nil || sentBytes(s.end) < 5<<20 {
			t.Errorf("sent %d bytes, want 5 MiB and what was omitted beside: %v", sentBytes(s.end), s.err)
		}
		from.Bytes, to.Bytes = 0, 5<<20
		if _, r := w.keepOpenBoth(t, from, to); r.err != nil || receivedBytes(r.end) < 4<<20 {
			t.Errorf("received %d bytes, want 5 MiB: %v", receivedBytes(r.end), r.err)
		}
	})
}

// Receivers of iperf3 count whole blocks of each stream.
func TestEachStreamOfAnAmountSendsWholeBlocks(t *testing.T) {
	const unit, units, streams = 100_000, 180, 4
	forEachWay(t, func(t *testing.T, w way) {
		for _, rate := range []measure.Rate{0, 1e9} {
			if rate > 0 && (w.tx == "splice" || w.tx == "zerocopy") {
				continue // they keep no rate
			}
			a, b := loopback.TCP(t, streams)
			var got [streams]int64
			var readers sync.WaitGroup
			for i, c := range b {
				_ = a[i].SetWriteBuffer(30_000) // the kernel takes a part of a unit at a time
				_ = c.SetReadBuffer(30_000)
				readers.Go(func() { got[i], _ = io.Copy(io.Discard, c) })
			}
			o := endless(streams)
			o.Bytes, o.Length, o.Rate, o.TX = unit*units, unit, rate, w.tx
			end, err := send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Block: unit}}, w.limits())
			for _, c := range a {
				_ = c.Close()
			}
			readers.Wait()
			if n := sentBytes(end); err != nil || n != unit*units {
				t.Errorf("%d bytes sent, want %d: %v", n, unit*units, err)
			}
			for i, n := range got {
				if n%unit != 0 {
					t.Errorf("rate %d: stream %d had %d bytes", rate, i, n)
				}
			}
		}
	})
}

func TestSendfileKeepsARate(t *testing.T) {
	tier.SpendsSeconds(t)
	if len(sock.WriterPaths()) == 0 {
		t.Skip("this system has only writes")
	}
	a, b := loopback.TCP(t, 2)
	for _, c := range b {
		go func() { _, _ = io.Copy(io.Discard, c) }()
	}
	o := options(500*time.Millisecond, 2)
	o.TX, o.Rate, o.Length = "sendfile", 40_000_000, 10_000
	end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true}})
	// A busy host may send late, but nothing lets it send more.
	if n := sentBytes(end); err != nil || end.Path != "sendfile" || n > 2_600_000 || n < 400_000 {
		t.Errorf("%d bytes by %s, want 2500000: %v", n, end.Path, err)
	}
}

func TestARepeatingPayloadIsDigits(t *testing.T) {
	for _, change := range []func(*measure.Options){
		func(o *measure.Options) { o.TX = "auto" },
		func(o *measure.Options) { o.TX, o.Rate = "auto", 100_000_000 },
		func(o *measure.Options) { o.TX, o.Rate = "sendfile", 100_000_000 },
	} {
		a, b := loopback.TCP(t, 1)
		o := options(0, 1)
		o.Duration, o.Bytes = 0, 100_000
		if change(&o); o.TX == "sendfile" && len(sock.WriterPaths()) == 0 {
			continue
		}
		got := make(chan []byte, 1)
		go func() {
			buf := make([]byte, 100_000)
			n, _ := io.ReadFull(b[0], buf)
			got <- buf[:n]
		}()
		if _, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Repeating: true}}); err != nil {
			t.Fatal(err)
		}
		text := <-got
		for i, x := range text {
			if x < '0' || x > '9' || i < 10 && x != '0'+byte(i) {
				t.Fatalf("%+v: byte %d of %d is %q", o, i, len(text), x)
			}
		}
		if len(text) != 100_000 {
			t.Errorf("%d bytes came", len(text))
		}
	}
}
