package udp

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

func TestABurstIsSentBackToBackAndTheRateHolds(t *testing.T) {
	tier.SpendsSeconds(t)
	const burst, size, bursts = 20, 500, 10
	const gap = 40 * time.Millisecond
	eachWay(t, func(t *testing.T, w way) {
		const streams = 4 // so that a worker has more than one
		a, b := pairs(t, streams)
		for _, c := range b {
			sock.RaiseQueue(c) // they are read when all were sent
		}
		o := w.options(0, streams, measure.Rate(streams*burst*size*8*int64(time.Second/gap)))
		o.Duration, o.Bytes, o.Size, o.Burst = 0, streams*burst*bursts*size, size, burst
		began := time.Now()
		end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Datagrams: plain{}}})
		if err != nil {
			t.Fatal(err)
		}
		if n, _, _ := total(end); n.Sent != streams*burst*bursts {
			t.Errorf("sent %d datagrams, want %d", n.Sent, streams*burst*bursts)
		}
		all, together := 0, 0
		for i, c := range b {
			left := departures(t, c, int(end.Streams[i].Packets.Sent))
			for k := 0; len(left) >= burst; k++ {
				all++
				if after := left[0].Sub(began); after < time.Duration(k)*gap {
					t.Errorf("burst %d left after %v, before its time", k, after)
				}
				if left[burst-1].Sub(left[0]) < gap/4 {
					together++
				}
				left = left[burst:]
			}
		}
		if together <= all/2 || all < streams*bursts/2 {
			t.Errorf("only %d of %d bursts left back to back", together, all)
		}
	})
}

// departures returns when each of this many datagrams was sent, by number.
func departures(t *testing.T, c interface {
	Read([]byte) (int, error)
	SetReadDeadline(time.Time) error
}, n int) []time.Time {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	left := make([]time.Time, n)
	for range n {
		b := make([]byte, 2000)
		if _, err := c.Read(b); err != nil {
			t.Fatal(err)
		}
		number := binary.BigEndian.Uint64(b)
		if number == 0 || number > uint64(n) {
			t.Fatalf("number %d", number)
		}
		left[number-1] = time.Unix(0, int64(min(binary.BigEndian.Uint64(b[8:]), math.MaxInt64)))
	}
	return left
}
