package sock

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

// blockingReader returns a reader with a block timeout of d, its connection and the
// peer's.
func blockingReader(t *testing.T, d time.Duration) (in *Reader, of, from *net.TCPConn) {
	t.Helper()
	of, from, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err = OpenReader([]*net.TCPConn{of}, "read", 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	if !in.BlockTimeout(d) {
		t.Fatal("it has none")
	}
	return in, of, from
}

func TestABlockingReaderWaitsForBytesAndRestoresTheConnection(t *testing.T) {
	in, of, from := blockingReader(t, time.Minute)
	go func() {
		time.Sleep(20 * time.Millisecond) // so that it waits, most likely
		_, _ = from.Write([]byte("abc"))
	}()
	if n, err := in.Take(0); n != 3 || err != nil || string(in.Bytes(n)) != "abc" {
		t.Errorf("took %q, %v", in.Bytes(n), err)
	}
	in.Close()
	_ = of.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := of.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read of the connection afterwards: %v", err)
	}
}

func TestTakeForReturnsBytesAndTheTimeOfTheLast(t *testing.T) {
	tier.SpendsSeconds(t)
	const timeout = 300 * time.Millisecond
	in, _, from := blockingReader(t, timeout)
	begin := Now()
	if _, err := from.Write(make([]byte, 200<<10)); err != nil { // several reads
		t.Fatal(err)
	}
	written := Now()
	n, last, err := in.TakeFor(time.Minute)
	if n != 200<<10 || !errors.Is(err, ErrWouldBlock) {
		t.Errorf("%d bytes of %d, %v", n, 200<<10, err)
	}
	if waited := Since(begin); last.Before(begin) || last.Sub(written) > timeout/2 || waited < timeout {
		t.Errorf("the last byte was sent at %v and taken at %v; the call took %v", written.Sub(begin), last.Sub(begin), waited)
	}
	if n, _, err := in.TakeFor(time.Minute); n != 0 || !errors.Is(err, ErrWouldBlock) {
		t.Errorf("of nothing: %d bytes, %v", n, err)
	}
	if _, err := from.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	_ = from.CloseWrite()
	if n, _, err := in.TakeFor(time.Minute); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

func TestTakeForEndsWhileBytesArrive(t *testing.T) {
	in, _, from := blockingReader(t, time.Minute)
	go func() {
		for {
			if _, err := from.Write(make([]byte, 256<<10)); err != nil {
				return
			}
		}
	}()
	begin := Now()
	n, _, err := in.TakeFor(10 * time.Millisecond)
	if took := Since(begin); n == 0 || err != nil || took > time.Second {
		t.Errorf("%d bytes in %v, %v", n, took, err)
	}
}

func TestBlockTimeoutNeedsOneConnectionAndThePathRead(t *testing.T) {
	a, _, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for path, conns := range map[string][]*net.TCPConn{"discard": {a}, "read": {a, a}} {
		in, err := OpenReader(conns, path, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		if in.BlockTimeout(time.Minute) {
			t.Errorf("%s of %d connections has", path, len(conns))
		}
		in.Close()
	}
}
