package ntttcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/test/exchange"
	"soku/test/tier"
)

// recorded has the exchanges of real ntttcp, by file name.
func recorded(t *testing.T, name string) *exchange.Exchange {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "exchange", name+".txt"))
	must(t, err)
	defer f.Close()
	x, err := exchange.Read(f)
	must(t, err)
	return x
}

// play plays the receiver of x and returns the port of its first data port.
func play(t *testing.T, x *exchange.Exchange) (base int, done <-chan error) {
	t.Helper()
	for range 50 {
		shift := 1 + rand.IntN(15000) // below the ports that systems hand out
		ports, err := exchange.Listen(x, "127.0.0.1", shift)
		if err != nil {
			continue
		}
		t.Cleanup(ports.Close)
		over := make(chan error, 1)
		go func() {
			p := exchange.Player{Exchange: x, As: exchange.Server, Open: ports.Accept, Expect: alike}
			over <- p.Play(within(t))
		}()
		return 15001 + shift, over
	}
	t.Fatal("no free ports")
	return 0, nil
}

// alike accepts any payload of a test, and either last word of a sender: ntttcp sends
// Exit, soku requests the state first.
func alike(c net.Conn, s exchange.Step) error {
	got := make([]byte, len(s.Bytes))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if len(got) != wordSize {
		return nil
	}
	want, _ := ParseWord(s.Bytes)
	if w, _ := ParseWord(got); w != want && (want != Exit || w != Query) {
		return fmt.Errorf("got %v, not %v", w, want)
	}
	return nil
}

func TestASessionAgainstRecordedReceivers(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, c := range map[string]struct {
		test    measure.Test
		streams int
		kind    measure.Kind // of the failure; empty: none
	}{
		"sync":   {measure.TestTCP, 4, ""},
		"longer": {measure.TestTCP, 1, ""},
		"udp":    {measure.TestUDP, 1, ""},
		"busy":   {measure.TestTCP, 1, measure.KindRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, played := play(t, recorded(t, name))
			o := option.Defaults(c.test)
			o.Via, o.Duration, o.Streams = option.ViaNtttcp, measure.Duration(1e9), c.streams
			o, err := option.Effective(o, c.test)
			must(t, err)
			err = whole(within(t), net.JoinHostPort("127.0.0.1", strconv.Itoa(base)), wire.Request{Test: c.test, Options: o})
			if c.kind == "" && err != nil || c.kind != "" && measure.KindOf(err) != c.kind {
				t.Errorf("the session: %v", err)
			}
			if err := <-played; err != nil {
				t.Errorf("the receiver: %v", err)
			}
		})
	}
}

// whole runs a session with a few bytes as its test.
func whole(ctx context.Context, address string, r wire.Request) error {
	s, err := Open(ctx, address, r, wire.Hooks{})
	if err != nil {
		return err
	}
	defer s.Close()
	var conns []net.Conn
	if r.Test == measure.TestUDP {
		conns, err = s.UDP(ctx)
	} else {
		var tcp []*net.TCPConn
		tcp, err = s.TCP(ctx)
		for _, c := range tcp {
			conns = append(conns, c)
		}
	}
	if err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	for _, c := range conns {
		for range 100 {
			if _, err := c.Write(make([]byte, 40)); err != nil {
				return err
			}
		}
	}
	_, err = s.Finish(ctx, nil)
	return errors.Join(err, s.Close())
}

func TestARegistryAgainstRecordedSenders(t *testing.T) {
	for name, c := range map[string]struct {
		o       RegistryOptions
		seconds int // negotiated
		senders int
		exits   bool // the sender sends Exit
	}{
		"sync":        {RegistryOptions{Seconds: 1}, 1, 1, false},
		"longer":      {RegistryOptions{Seconds: 3}, 3, 1, true},
		"cycle":       {RegistryOptions{Seconds: 1}, 3, 1, true},
		"interrupted": {RegistryOptions{Seconds: 5}, 5, 1, true},
		"multi":       {RegistryOptions{Seconds: 1, Multi: true}, 1, 2, false},
		"udp":         {RegistryOptions{Seconds: 1}, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := recorded(t, name)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			data, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			ctx, leave := context.WithCancel(within(t))
			defer leave()
			var left atomic.Int64
			left.Store(sent(x))
			go drop(ctx, data, &left)
			d := NewRegistry(c.o)
			go func() { _ = d.Serve(ctx, l) }()
			p := exchange.Player{Exchange: x, As: exchange.Client, Expect: onceRun, Open: func(network string, port int) (net.Conn, error) {
				if port == 15000 {
					return net.Dial("tcp", l.Addr().String())
				}
				return net.Dial(network, data.Addr().String())
			}}
			played := make(chan error, 1)
			go func() { played <- p.Play(within(t)) }()
			test := begun(t, d)
			if test.Seconds != c.seconds || test.Senders != c.senders {
				t.Errorf("the test is %+v, want %d s with %d senders", test, c.seconds, c.senders)
			}
			for left.Load() > 0 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if c.exits {
				over(t, test)
			}
			d.Done()
			leave() // as a receiver does after a single test
			if err := <-played; err != nil {
				t.Error(err)
			}
		})
	}
}

// sent is the number of TCP bytes on the data connections of x.
func sent(x *exchange.Exchange) (n int64) {
	data := map[int]bool{}
	for _, s := range x.Steps {
		if s.Kind == exchange.Open {
			data[s.Conn] = s.Network == "tcp" && s.Port != 15000
		}
		if data[s.Conn] && s.From == exchange.Client {
			n += int64(len(s.Bytes)) + s.N
		}
	}
	return n
}

// onceRun expects Run once, where ntttcp sends it twice to the last of several senders,
// which reads one, and accepts the end of the connection instead. After an early end the
// receiver's state is the same as after a normal end.
func onceRun(c net.Conn, s exchange.Step) error {
	err := exchange.Same(c, s)
	if w, _ := ParseWord(s.Bytes); w == Run && errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// drop accepts connections, discards payload and subtracts it from left, until ctx ends.
func drop(ctx context.Context, l net.Listener, left *atomic.Int64) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		context.AfterFunc(ctx, func() { c.Close() })
		go func() {
			b := make([]byte, 64<<10)
			for {
				n, err := c.Read(b)
				left.Add(-int64(n))
				if err != nil {
					c.Close()
					return
				}
			}
		}()
	}
}
