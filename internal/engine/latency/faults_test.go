package latency

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/test/tier"
)

func TestAFarEndThatGoesAwayBreaksItAndLeavesWhatWasCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Duration = 0, measure.Duration(time.Hour)
		if OptionsOf(o).Protocol == "udp" {
			o.Timeout = measure.Duration(100 * time.Millisecond)
		}
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n == 20 {
				_ = far.Close()
				return nil
			}
			return [][]byte{replyTo(m)}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if measure.KindOf(err) != measure.KindBroken || l == nil {
			t.Fatalf("%+v, %v", l, err)
		}
		if l.Received < 1 || l.Received > 20 || l.Histogram.Count() != l.Received || l.Sent <= l.Received {
			t.Errorf("of 20 answers: %+v", l)
		}
	})
}

func TestAFarEndThatResetsBreaksIt(t *testing.T) {
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n == 5 {
				_ = far.(*net.TCPConn).SetLinger(0)
				_ = far.Close()
				return nil
			}
			return [][]byte{m}
		})
		if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); measure.KindOf(err) != measure.KindBroken || l.Received > 5 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "tcp")
}

func TestSilenceOverTCPAfterTheEndBreaksIt(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count = 0
		o.Duration, o.Timeout = measure.Duration(50*time.Millisecond), measure.Duration(100*time.Millisecond)
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n >= 3 {
				return [][]byte{}
			}
			return [][]byte{m}
		})
		if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); measure.KindOf(err) != measure.KindBroken || l.Received > 3 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "tcp")
}

func TestRepliesMayTakeLongerThanTheTimeoutAsLongAsTheyCome(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		t.Parallel()
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Timeout = 20, measure.Duration(time.Second)
		answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte {
			time.Sleep(80 * time.Millisecond) // what a slow far end takes
			return [][]byte{m}
		})
		if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); err != nil || l.Received != 20 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "tcp")
}

func TestNoAnswerAtAllIsBroken(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Timeout = 5, measure.Duration(20*time.Millisecond)
		answering(t, far, int(o.Size), func(int, []byte) [][]byte { return [][]byte{} })
		if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); measure.KindOf(err) != measure.KindBroken || l.Sent != 5 || l.Lost != 5 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "udp")
}

func TestLostDatagramsAreCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Timeout = 20, measure.Duration(50*time.Millisecond)
		if o.RequestRate > 0 {
			o.Timeout = measure.Duration(300 * time.Millisecond) // it waits once for all of them
		}
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n%4 == 0 {
				return [][]byte{}
			}
			return [][]byte{replyTo(m)}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if err != nil || l.Sent != 20 || l.Lost < 5 || l.Received+l.Lost != 20 || l.Histogram.Count() != l.Received {
			t.Errorf("%+v, %v", l, err)
		}
	}, "udp")
}

func TestDuplicatesCountApart(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte { return [][]byte{replyTo(m), replyTo(m)} })
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		// The last duplicate may come after the run has ended.
		if err != nil || l.Received != 100 || l.Duplicated < 99 || l.Duplicated > 100 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "udp")
}

func TestALateReplyIsLostAndAnswersNoOtherRequest(t *testing.T) {
	tier.SpendsSeconds(t)
	const timeout = 50 * time.Millisecond
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Duration, o.Timeout = 0, measure.Duration(4*timeout), measure.Duration(timeout)
		var late [][]byte
		var first time.Time
		var came atomic.Bool
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			switch {
			case n == 0:
				late, first = [][]byte{replyTo(m)}, time.Now()
				return [][]byte{}
			case !came.Load() && time.Since(first) > 2*timeout:
				came.Store(true)
				return append(late, replyTo(m))
			}
			return [][]byte{replyTo(m)}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if err != nil || l.Lost < 1 || l.Received+l.Lost != l.Sent || l.Duplicated != 0 || !came.Load() {
			t.Errorf("the late reply came: %v; %+v, %v", came.Load(), l, err)
		}
		if most := time.Duration(l.Histogram.Max()); most > timeout*101/100 {
			t.Errorf("a round trip of %v counted, over the timeout", most)
		}
	}, "udp")
}

func TestStrayMessagesMatchNoRequest(t *testing.T) {
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Timeout = measure.Duration(20 * time.Millisecond)
		o.Count = 3
		answering(t, far, int(o.Size), func(_ int, m []byte) [][]byte {
			return [][]byte{
				{}, {1}, m, // nothing, next to nothing, the request itself
				altered(m, 0),                    // not the magic
				altered(m, 5),                    // not the token
				altered(m, 12),                   // a number never sent
				replyTo(m)[:requests.HeaderSize], // cut
				append(replyTo(m), 0), {2, 3, 4}, // too long
			}
		})
		l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if measure.KindOf(err) != measure.KindBroken || l.Received != 0 || l.Duplicated != 0 || l.Lost != 3 {
			t.Errorf("%+v, %v", l, err)
		}
	}, "udp")
}

func TestAStreamThatAnswersWrongIsBroken(t *testing.T) {
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		for what, answer := range map[string]func(int, []byte) [][]byte{
			"another number": func(_ int, m []byte) [][]byte { return [][]byte{altered(m, 3)} },
			"twice":          func(_ int, m []byte) [][]byte { return [][]byte{append(replyTo(m), m...)} },
		} {
			near, far := sockets(t, OptionsOf(o).Protocol)
			answering(t, far, int(o.Size), answer)
			if l, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open); measure.KindOf(err) != measure.KindBroken || l.Received > 1 {
				t.Errorf("%s: %+v, %v", what, l, err)
			}
		}
	}, "tcp")
}

func TestClosingTheConnectionElsewhereIsNoticed(t *testing.T) {
	tier.SpendsSeconds(t)
	forEach(t, func(t *testing.T, open linker, o measure.Options) {
		near, far := sockets(t, OptionsOf(o).Protocol)
		o.Count, o.Duration = 0, measure.Duration(time.Hour)
		closed := make(chan time.Time, 1)
		answering(t, far, int(o.Size), func(n int, m []byte) [][]byte {
			if n == 5 {
				closed <- time.Now()
				go near.Close()
			}
			return [][]byte{replyTo(m)}
		})
		_, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
		if err == nil {
			t.Error("the connection was closed, and nothing was wrong")
		}
		if took := time.Since(<-closed); took > 5*time.Second {
			t.Errorf("noticed after %v", took)
		}
	})
}

func TestEchoEndsWithItsContext(t *testing.T) {
	tier.NeedsQuiet(t)
	for name, open := range linkers() {
		for _, protocol := range []string{"tcp", "udp"} {
			_, far := sockets(t, protocol)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- echoErr(ctx, far, options(protocol), open) }()
			time.AfterFunc(20*time.Millisecond, cancel)
			<-ctx.Done()
			start := time.Now()
			if err := <-done; err != nil || time.Since(start) > 100*time.Millisecond {
				t.Errorf("%s %s: %v after %v", protocol, name, err, time.Since(start))
			}
		}
	}
}

func TestEchoOfAStreamEndsWithIt(t *testing.T) {
	for name, open := range linkers() {
		near, far := sockets(t, "tcp")
		done := make(chan error, 1)
		go func() { done <- echoErr(t.Context(), far, options("tcp"), open) }()
		_ = near.Close()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}

		near, far = sockets(t, "tcp")
		go func() { done <- echoErr(t.Context(), far, options("tcp"), open) }()
		_, _ = near.Write([]byte("half a message"))
		_ = near.Close()
		if err := <-done; measure.KindOf(err) != measure.KindBroken {
			t.Errorf("%s: half a message: %v", name, err)
		}
	}
}

func TestEchoAnswersOnlyRequestsAndNeverWithMore(t *testing.T) {
	for name, open := range linkers() {
		near, far := sockets(t, "udp")
		o := options("udp") // 64 bytes
		done := make(chan error, 1)
		go func() { done <- echoErr(t.Context(), far, o, open) }()
		request := func(size int, h requests.Header) []byte {
			b := make([]byte, size)
			h.Put(b)
			return b
		}
		for _, b := range [][]byte{
			{}, {1, 2, 3}, make([]byte, 64), request(64, requests.Header{Magic: requests.MagicReply, Token: 7}),
			request(65, requests.Header{Magic: requests.MagicRequest, Token: 7}), // longer than agreed
			request(28, requests.Header{Magic: requests.MagicEnd, Token: 8}),     // of another trial
			request(64, requests.Header{Magic: requests.MagicRequest, Token: 7, Number: 1}),
			request(30, requests.Header{Magic: requests.MagicRequest, Token: 7, Number: 2}),
		} {
			if _, err := near.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		_ = near.SetReadDeadline(time.Now().Add(10 * time.Second))
		b := make([]byte, 2000)
		for i, size := range []int{64, 30} {
			n, err := near.Read(b)
			h, ok := requests.ParseHeader(b[:n])
			if want := (requests.Header{Magic: requests.MagicReply, Token: 7, Number: uint64(i) + 1}); err != nil || !ok || h != want || n != size {
				t.Errorf("%s: got %d bytes %+v, %v; want %d of %+v", name, n, h, err, size, want)
			}
		}
		_, _ = near.Write(request(28, requests.Header{Magic: requests.MagicEnd, Token: 7}))
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The end mark was the last thing said: nothing else was answered.
		_ = near.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		if n, err := near.Read(b); err == nil {
			t.Errorf("%s: %d bytes more came", name, n)
		}
	}
}

func TestEchoRefusesSizesThatCannotBe(t *testing.T) {
	_, far := sockets(t, "tcp")
	for _, size := range []measure.Size{-1, 0, 64<<10 + 1} {
		o := options("tcp")
		o.Size = size
		if _, err := Echo(t.Context(), []net.Conn{far}, o, engine.Flow{}, nil); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

func TestACancelledBaselineIsReported(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := Floor(ctx, options("udp"), 0); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", f, err)
	}
}
