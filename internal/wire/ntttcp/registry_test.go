package ntttcp

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/exchange"
)

const forever = 20 * time.Second

// open runs a registry until the test ends.
func open(t *testing.T, o RegistryOptions) (*Registry, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := NewRegistry(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(forever):
			t.Error("the registry does not end")
		}
	})
	return d, l.Addr().String()
}

func come(t *testing.T, address string) *Sync {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return NewSync(c)
}

// agree connects to a registry and requests this number of seconds.
func agree(t *testing.T, address string, asked int) (s *Sync, agreed int) {
	t.Helper()
	s = come(t, address)
	must(t, s.Ask(within(t)))
	agreed, err := s.Agree(within(t), asked)
	must(t, err)
	return s, agreed
}

// run starts a test of one sender.
func run(t *testing.T, d *Registry, address string, asked int) (*Sync, Test) {
	t.Helper()
	s, _ := agree(t, address, asked)
	must(t, s.Begin(within(t), false, nil))
	return s, begun(t, d)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), forever)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begun(t *testing.T, d *Registry) Test {
	t.Helper()
	select {
	case test := <-d.Begun():
		return test
	case <-time.After(forever):
		t.Fatal("no test begins")
		return Test{}
	}
}

func over(t *testing.T, test Test) {
	t.Helper()
	select {
	case <-test.Over:
	case <-time.After(forever):
		t.Fatal("the test does not end")
	}
}

func TestEndsNegotiateTheLongerTime(t *testing.T) {
	for _, c := range []struct{ own, asked, agreed int }{{60, 10, 60}, {5, 10, 10}, {0, 10, 0}, {10, 0, 0}, {10, 88, 88}, {1, 82, 82}} {
		d, address := open(t, RegistryOptions{Seconds: c.own})
		s, got := agree(t, address, c.asked)
		if got != c.agreed {
			t.Errorf("receiver %d s, sender %d s: agreed on %d, want %d", c.own, c.asked, got, c.agreed)
		}
		must(t, s.Begin(within(t), false, nil))
		if test := begun(t, d); test.Seconds != c.agreed || test.Senders != 1 {
			t.Errorf("the test is %+v", test)
		}
	}
}

func TestABusyReceiverIsRefused(t *testing.T) {
	d, address := open(t, RegistryOptions{Seconds: 10})
	second, _ := agree(t, address, 10)
	third := come(t, address)
	run(t, d, address, 10)
	if err := third.Ask(within(t)); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("one who asks while a test runs: %v", err)
	}
	if err := second.Begin(within(t), false, nil); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("one who asked before: %v", err)
	}
	d.Done()
	run(t, d, address, 1)
}

func TestConnectionsThatAreOnlyOpenKeepNoSenderOut(t *testing.T) {
	t.Parallel()
	d, address := open(t, RegistryOptions{Seconds: 5})
	first, _ := agree(t, address, 5)
	must(t, first.Begin(within(t), false, nil))
	begun(t, d)
	for range 3 * connsMost {
		come(t, address)
	}
	if err := come(t, address).Ask(within(t)); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("a sender beside silent connections is not answered: %v", err)
	}
	if n := d.Open(); n > connsMost {
		t.Errorf("%d connections are open, %d are allowed", n, connsMost)
	}
	if state, err := first.exchange(within(t), Query, forever); err != nil || state != Running {
		t.Errorf("the sender of the running test gets %v, %v", state, err)
	}
}

func TestASenderEndsTheTestBeforeItsTime(t *testing.T) {
	d, address := open(t, RegistryOptions{Seconds: 10})
	s, test := run(t, d, address, 10)
	s.Exit()
	over(t, test)
}

func TestSeveralSendersStartWithTheLast(t *testing.T) {
	d, address := open(t, RegistryOptions{Seconds: 7, Multi: true})
	const early = 3
	waits, began := make(chan struct{}, early), make(chan error, early)
	for range early {
		s, got := agree(t, address, 30)
		if got != 7 {
			t.Fatalf("agreed on %d; the receiver's is 7", got)
		}
		go func() { began <- s.Begin(within(t), false, func() { waits <- struct{}{} }) }()
	}
	for range early {
		<-waits
	}
	last, _ := agree(t, address, 1)
	must(t, last.Begin(within(t), true, nil))
	for range early {
		must(t, <-began)
	}
	if test := begun(t, d); test.Senders != early+1 || test.Seconds != 7 {
		t.Errorf("the test is %+v", test)
	}
}

func TestAnEighthSenderThatIsNotTheLastIsRefused(t *testing.T) {
	_, address := open(t, RegistryOptions{Seconds: 7, Multi: true})
	waits := make(chan struct{}, SendersMost)
	for range SendersMost - 1 {
		s, _ := agree(t, address, 7)
		go func() { _ = s.Begin(context.Background(), false, func() { waits <- struct{}{} }) }()
		<-waits
	}
	s, _ := agree(t, address, 7)
	if err := s.Begin(within(t), false, nil); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("the eighth: %v", err)
	}
}

func TestATestWithoutATimeEndsWithItsLastSender(t *testing.T) {
	d, address := open(t, RegistryOptions{Seconds: 0})
	s, test := run(t, d, address, 10)
	s.Close()
	over(t, test)
}

func TestAReceiverReadsItsCountersBeforeItStartsItsSenders(t *testing.T) {
	var c net.Conn
	var err error
	heard := make(chan error, 1)
	_, address := open(t, RegistryOptions{Seconds: 1, Begins: func() {
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := ReadWord(c)
		heard <- err
	}})
	c, err = net.Dial("tcp", address)
	must(t, err)
	defer c.Close()
	for _, w := range []Word{Query, 1} {
		must(t, WriteWord(c, w))
		_, err := ReadWord(c)
		must(t, err)
	}
	must(t, WriteWord(c, Run))
	if err := <-heard; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the sender got Run before the counters were read, or is gone: %v", err)
	}
	_ = c.SetReadDeadline(time.Now().Add(forever))
	if w, err := ReadWord(c); w != Run || err != nil {
		t.Errorf("got %v, %v", w, err)
	}
}

func TestASenderStaysUntilTheReceiverIsDone(t *testing.T) {
	d, address := open(t, RegistryOptions{Seconds: 10})
	s, _ := run(t, d, address, 10)
	lingered := make(chan struct{})
	go func() { s.Linger(within(t)); close(lingered) }()
	select {
	case <-lingered:
		t.Fatal("did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	d.Done()
	select {
	case <-lingered:
	case <-time.After(lingerTime):
		t.Error("waits for longer than the receiver")
	}
}

// constant is a receiver that answers every word with the same bytes.
func constant(t *testing.T, answer []byte) string {
	return exchange.Service(t, func(c net.Conn) {
		for {
			if _, err := ReadWord(c); err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil || len(answer) < wordSize {
				return
			}
		}
	})
}

func TestAnInvalidAnswerOfAReceiverIsReported(t *testing.T) {
	for name, answer := range map[string][]byte{
		"half a word": {0, 0}, "no state": {0, 0, 0, 99}, "negative": {0xff, 0xff, 0xff, 0xff},
	} {
		s := come(t, constant(t, answer))
		if err := s.Ask(within(t)); measure.KindOf(err) != measure.KindBroken {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, seconds := range map[string]uint32{"more than a day": SecondsMost + 1, "negative": 0x80000000} {
		s := come(t, constant(t, binary.BigEndian.AppendUint32(nil, seconds)))
		if _, err := s.Agree(within(t), 10); measure.KindOf(err) != measure.KindBroken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASilentReceiverEndsWithTheContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	s := come(t, l.Addr().String())
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := measure.TextError(measure.KindInterrupted, "interrupted", "")
	go cancel(cause)
	if err := s.Ask(ctx); measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("ended with %v", err)
	}
}

// A registry handles any bytes: it answers by the order or closes the connection, and
// serves the next sender.
func FuzzRegistry(f *testing.F) {
	word := func(words ...Word) (b []byte) {
		for _, w := range words {
			b = w.Append(b)
		}
		return b
	}
	f.Add(word(Query, 10, Run, Exit), false)
	f.Add(word(Query, 88, Last), true)
	f.Add(word(Query, 0, Run, Query, Query, Exit), true)
	f.Add(word(Query, -1), false)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Fuzz(func(t *testing.T, b []byte, multi bool) {
		if len(b) > 4096 {
			return
		}
		d := NewRegistry(RegistryOptions{Seconds: 1, Multi: multi})
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() { d.serve(&syncConn{conn: far}); far.Close(); close(done) }()
		answers := make(chan int64)
		go func() { n, _ := io.Copy(io.Discard, near); answers <- n }()
		_ = near.SetWriteDeadline(time.Now().Add(forever))
		_, _ = near.Write(b)
		near.Close()
		select {
		case <-done:
		case <-time.After(forever):
			t.Fatal("the registry waits for one who is gone")
		}
		if n := <-answers; n > int64(len(b))+wordSize {
			t.Fatalf("%d bytes of answers to %d", n, len(b))
		}
	})
}

// A sender handles any answer: it continues, or ends with an error.
func FuzzSync(f *testing.F) {
	f.Add(NotStarted.Append(Word(60).Append(Run.Append(Finished.Append(nil)))))
	f.Add(Finished.Append(Word(0).Append(Wait.Append(Run.Append(Run.Append(Running.Append(nil)))))))
	f.Add(Running.Append(nil))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, far) }()
			_, _ = far.Write(b)
			far.Close()
		}()
		s := NewSync(near)
		ctx, cancel := context.WithTimeout(context.Background(), forever)
		defer cancel()
		seconds, err := 0, s.Ask(ctx)
		if err == nil {
			seconds, err = s.Agree(ctx, 10)
		}
		if seconds < 0 || seconds > SecondsMost {
			t.Fatalf("agreed on %d s", seconds)
		}
		if err == nil {
			err = s.Begin(ctx, false, nil)
		}
		if err == nil {
			s.Linger(ctx)
			s.Exit()
		} else if k := measure.KindOf(err); k != measure.KindBroken && k != measure.KindRefused {
			t.Fatalf("% x: %v", b, err)
		}
	})
}
