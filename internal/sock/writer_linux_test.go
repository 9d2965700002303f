package sock

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/measure"
)

// blockingPaths are the paths whose writers can block.
var blockingPaths = []string{"splice", "write"}

func TestABlockingWriterWaitsForRoomAndRestoresTheConnection(t *testing.T) {
	for _, path := range blockingPaths {
		t.Run(path, func(t *testing.T) { blockingWriterWaits(t, path) })
	}
}

func blockingWriterWaits(t *testing.T, path string) {
	t.Helper()
	a, b, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = a.SetWriteBuffer(64 << 10)
	o, err := OpenWriter([]*net.TCPConn{a}, path, RandomContent)
	if err != nil {
		t.Fatal(err)
	}
	if !o.BlockTimeout(50 * time.Millisecond) {
		t.Fatal("it has none")
	}
	var put int
	for { // until neither queue has room for the whole block timeout
		n, err := o.Put(0, 1<<20)
		put += n
		if errors.Is(err, ErrWouldBlock) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan int64)
	go func() {
		n, _ := io.Copy(io.Discard, io.LimitReader(b, int64(put)+1<<20))
		read <- n
	}()
	for left := 1 << 20; left > 0; { // each call waits for the reader, as long as it takes
		n, err := o.Put(0, left)
		if err != nil && !errors.Is(err, ErrWouldBlock) {
			t.Fatal(err)
		}
		left -= n
	}
	if n := <-read; n != int64(put)+1<<20 {
		t.Errorf("%d bytes came of %d", n, put+1<<20)
	}
	o.Close()
	_ = a.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read of the connection afterwards: %v", err)
	}
}

func TestPutForCountsBytesAndEnds(t *testing.T) {
	for _, path := range blockingPaths {
		t.Run(path, func(t *testing.T) { longCallCounts(t, path) })
	}
}

func longCallCounts(t *testing.T, path string) {
	t.Helper()
	a, b, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := OpenWriter([]*net.TCPConn{a}, path, RandomContent)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if !o.BlockTimeout(5 * time.Millisecond) {
		t.Fatal("it has none")
	}
	var put int64
	for { // the peer does not read: it returns after the block timeout
		n, err := o.PutFor(1<<20, time.Minute)
		put += n
		if errors.Is(err, ErrWouldBlock) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan int64)
	go func() { n, _ := io.Copy(io.Discard, b); read <- n }()
	for range 3 {
		n, err := o.PutFor(1<<20, 5*time.Millisecond)
		if err != nil && !errors.Is(err, ErrWouldBlock) {
			t.Fatal(err)
		}
		put += n
	}
	_ = a.CloseWrite()
	if n := <-read; n != put || put == 0 {
		t.Errorf("%d bytes came of %d", n, put)
	}
	if n, err := o.PutFor(1<<20, time.Minute); n != 0 || err == nil || errors.Is(err, ErrWouldBlock) {
		t.Errorf("into a connection that is closed for sending: %d bytes, %v", n, err)
	}
}
