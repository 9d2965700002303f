package connect

import (
	"context"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

func TestZ(t *testing.T) {
	if os.Getenv("Z") == "" {
		t.Skip()
	}
	sock.ReserveThreads()
	local := netip.MustParseAddr("127.0.0.1")
	for range 3 {
		for _, n := range []int{1, 16} {
			for _, size := range []int{0} {
				for _, reset := range []bool{true} {
					o := measure.Defaults(measure.TestConnect)
					o.Streams = n
					o.Duration = measure.Duration(1500 * time.Millisecond)
					o.Size = measure.Size(size)
					l, err := Listen(local, []netip.Addr{local}, o)
					if err != nil {
						t.Fatal(err)
					}
					l.Begin()
					ctx, cancel := context.WithCancel(context.Background())
					done := make(chan *measure.Connect)
					go func() { done <- l.Serve(ctx) }()
					end, err := Run(context.Background(), Target{Addr: netip.AddrPortFrom(local, uint16(l.Port())), Reset: reset, Await: !reset}, o, nil)
					cancel()
					c := <-done
					l.Close()
					p := end.Latency.Histogram.Percentiles()
					t.Logf("n=%d size=%d reset=%v: %.0f/s accepted %d opened %d fail %v p50 %.0f p99 %.0f p999 %.0f max %.0f %s err %v", n, size, reset, c.AcceptedPerSecond, *c.Accepted, end.Connect.Opened, end.Connect.Failures, p.P50, p.P99, p.P999, p.Max, strconv.Quote(end.Latency.Method[:6]), err)
				}
			}
		}
	}
}
