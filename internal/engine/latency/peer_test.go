package latency

import (
	"context"
	"net"
	"testing"
	"time"

	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// forEach runs f with every link, loop and protocol, or only those protocols.
func forEach(t *testing.T, f func(t *testing.T, open linker, o measure.Options), protocols ...string) {
	t.Helper()
	if len(protocols) == 0 {
		protocols = []string{"tcp", "udp"}
	}
	for name, open := range linkers() {
		for _, protocol := range protocols {
			for loop, rate := range map[string]float64{"closed": 0, "open": 2000} {
				t.Run(protocol+" "+loop+" loop, "+name, func(t *testing.T) {
					o := options(protocol)
					o.RequestRate = rate
					f(t, open, o)
				})
			}
		}
	}
}

// options are for 100 round trips with a timeout far longer than this machine
// may stand still.
func options(protocol string) measure.Options {
	o := option.Defaults(measure.TestLatency)
	o.Duration, o.Count = 0, 100
	measure.EditOwn(&o, func(own *Options) { own.Protocol = protocol })
	o.Timeout = measure.Duration(20 * time.Second)
	return o
}

// splitting are options as of options, with round trips split where that can be.
func splitting(protocol string) measure.Options {
	o := options(protocol)
	measure.EditOwn(&o, func(own *Options) { own.Stamps = StampsSplit })
	return o
}

// sockets are the two ends of a connection over loopback.
func sockets(t *testing.T, protocol string) (near, far net.Conn) {
	t.Helper()
	near, far, err := pair(t.Context(), protocol, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// echoing answers at the far end until the test is over; its error is checked.
func echoing(t *testing.T, far net.Conn, o measure.Options, open linker) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- echoErr(ctx, far, o, open) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("echo: %v", err)
		}
	})
}

func echoErr(ctx context.Context, conn net.Conn, o measure.Options, open linker) error {
	_, err := echo(ctx, conn, echoOptions{Options: o}, open)
	return err
}

// answering runs a far end of the test's own: for message n it sends what
// answer returns, one write each; nil ends it.
func answering(t *testing.T, far net.Conn, size int, answer func(n int, message []byte) [][]byte) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, size)
		for n := 0; ; {
			if requests.IsStream(far) {
				if readFull(context.Background(), &pollerLink{conn: far, tick: time.Hour}, b, func() error { return nil }) != nil {
					return
				}
			} else {
				got, err := far.Read(b)
				if sock.Refused(err) {
					continue
				}
				if err != nil {
					return
				}
				if h, ok := requests.ParseHeader(b[:got]); !ok || h.Magic == requests.MagicEnd {
					continue
				}
			}
			replies := answer(n, b)
			if replies == nil {
				return
			}
			n++
			for _, r := range replies {
				if _, err := far.Write(r); err != nil && !sock.Refused(err) {
					return
				}
			}
		}
	}()
	t.Cleanup(func() { _ = far.Close(); <-done })
}

// replyTo is the honest answer.
func replyTo(message []byte) []byte {
	b := append([]byte(nil), message...)
	if h, ok := requests.ParseHeader(b); ok && h.Magic == requests.MagicRequest {
		h.Magic = requests.MagicReply
		h.Put(b)
	}
	return b
}

// altered is the honest answer with one byte changed.
func altered(message []byte, at int) []byte {
	b := replyTo(message)
	b[at] ^= 0x40
	return b
}
