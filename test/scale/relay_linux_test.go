package scale_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"soku/internal/sock/pace"
)

// relayTo passes connections on to a TCP address and makes each way as much longer as delay says. It returns its port.
func relayTo(t *testing.T, address string, delay time.Duration) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				all.Go(func() { delayed(way[1], way[0], delay) })
			}
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// delayed copies what is read and writes it as much later.
func delayed(to io.WriteCloser, from io.Reader, delay time.Duration) {
	type chunk struct {
		at    time.Time
		bytes []byte
	}
	chunks := make(chan chunk, 1000)
	var writer sync.WaitGroup
	writer.Go(func() {
		defer to.Close()
		for c := range chunks {
			for left := time.Until(c.at); left > 0; left = time.Until(c.at) {
				pace.Sleep(left)
			}
			_, _ = to.Write(c.bytes) // an end that is gone ends the reader, too
		}
	})
	for {
		b := make([]byte, 16<<10)
		n, err := from.Read(b)
		if err != nil {
			break
		}
		chunks <- chunk{time.Now().Add(delay), b[:n]}
	}
	close(chunks)
	writer.Wait()
}
