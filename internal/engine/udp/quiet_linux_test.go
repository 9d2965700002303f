package udp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/datagram"
	"soku/test/tier"
)

// threads returns how many threads this process has.
func threads(t *testing.T) (n int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("Threads:"))
	if _, err := fmt.Sscan(string(after), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Receivers to which nothing comes have no threads, and still take what comes and end with their flow.
func TestQuietReceiversHoldNoThreads(t *testing.T) {
	tier.WatchesTheClock(t)
	before := threads(t)
	for streams, flows := range map[int]int{1: 30, 18: 20} { // polled, or in an epoll instance
		ctx, end := context.WithCancel(t.Context())
		var receivers sync.WaitGroup
		var first net.Conn
		came := make(chan struct{}, flows)
		for range flows {
			a, b := pairs(t, streams)
			first = a[0]
			receivers.Go(func() {
				o := options(time.Minute, streams, 0)
				o.RX, o.Interval = datagram.Batch, measure.Duration(100*time.Millisecond)
				_, _ = Receive(ctx, b, o, engine.Flow{Observe: func(p measure.Progress) {
					if p.Packets > 0 {
						came <- struct{}{}
					}
				}})
			})
			time.Sleep(80 * time.Millisecond) // the runtime keeps threads that it once had
		}
		if now := threads(t); now > before+flows*3/4 {
			t.Errorf("%d streams: %d threads for %d receivers, %d before", streams, now, flows, before)
		}
		b := make([]byte, 1000)
		header{seq: 0}.put(b)
		if _, err := first.Write(b); err != nil {
			t.Error(err)
		}
		select {
		case <-came:
		case <-time.After(2 * time.Second):
			t.Errorf("%d streams: a datagram to a quiet receiver was not counted", streams)
		}
		end()
		began := time.Now()
		receivers.Wait()
		if took := time.Since(began); took > time.Second {
			t.Errorf("%d streams: the receivers ended after %s", streams, took)
		}
	}
}
