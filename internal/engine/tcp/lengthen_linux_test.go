package tcp

import (
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/congestion"
	"soku/test/loopback"
	"soku/test/tier"
)

func TestAFastFlowGetsALongQueueAndASlowOneDoesNot(t *testing.T) {
	const least, most = 4 << 20, 16 << 20
	for name, c := range map[string]struct {
		each float64 // bytes a second of a stream
		want int64
	}{
		"slow":            {100e6, 0},
		"nearly too slow": {260e6, 260e6 / 50}, // 20 ms of it
		"fast":            {5e9, most},
	} {
		t.Run(name, func(t *testing.T) {
			q := &lengthening{streams: 4, least: least, most: most}
			at := time.Now()
			var got int64
			for range 4 {
				for stream := range 4 {
					got = q.sent(int64(c.each*0.010), at, stream == 0)
				}
				at = at.Add(10 * time.Millisecond)
			}
			if d := got - c.want; d < -c.want/100 || d > c.want/100 {
				t.Errorf("a queue is to have %d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestOnlyTheFirstLoopComparesRates(t *testing.T) {
	q := &lengthening{streams: 2, least: 1, most: 2}
	at := time.Now()
	for range 10 {
		at = at.Add(compareEvery)
		if n := q.sent(1<<30, at, false); n != 0 {
			t.Fatalf("another loop chose %d", n)
		}
	}
}

// sendQueues are the lengths of conns' send queues.
func sendQueues(t *testing.T, conns []*net.TCPConn) (all []int) {
	t.Helper()
	for _, c := range conns {
		n, _, ok := sock.Buffers(c)
		if !ok {
			t.Fatal("the system does not report the length of a queue")
		}
		all = append(all, n)
	}
	return all
}

func TestFastFlowsGetLongQueuesUnlessTheyArePacedWithinAHost(t *testing.T) {
	tier.SpendsSeconds(t)
	const streams = 3
	least, most := sock.LongQueues(streams)
	if most <= least || os.Geteuid() != 0 {
		t.Skip("this host allows no queue beyond the kernel's own")
	}
	for name, c := range map[string]struct {
		congestion string
		window     measure.Size
		amount     measure.Size
		long       bool
	}{
		"for a time":      {congestion: "reno", long: true},
		"for an amount":   {congestion: "reno", amount: 4 << 30, long: true},
		"a chosen window": {congestion: "reno", window: 1 << 20},
		"paced by bbr":    {congestion: "bbr"},
	} {
		t.Run(name, func(t *testing.T) {
			congestion.Allow(t, c.congestion)
			from, to := loopback.TCP(t, streams)
			o := options(400*time.Millisecond, streams)
			o.Window, o.Congestion = c.window, c.congestion
			if c.amount > 0 {
				o.Duration, o.Bytes = 0, c.amount
			}
			s, r := both(t.Context(), from, to, o, measure.Forward, nil, nil)
			lossless(t, s, r)
			queues := sendQueues(t, from)
			for _, n := range queues {
				if n != queues[0] || (int64(n) > least) != c.long {
					t.Errorf("the queues have %d bytes; the kernel's own have %d at most", queues, least)
					break
				}
			}
		})
	}
}
