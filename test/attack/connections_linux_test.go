package attack

import (
	"context"
	"net"
	"testing"
	"time"
)

var _ = row(
	attack{name: "silent connections", run: silentConnections},
)

// silentConnections are opened on all ports, and again when the server closes them.
func silentConnections(ctx context.Context, t *testing.T, at *target, ready func()) {
	const most = 3000
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for n := 0; ctx.Err() == nil; n++ {
		c, err := from(n%4).DialContext(ctx, "tcp", []string{at.address, at.iperf3, at.ethr}[n%3])
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("connect: %v", err)
			}
			return
		}
		open = append(open, c)
		if len(open) > most {
			_ = open[0].Close()
			open = open[1:]
		}
		if n == most {
			ready()
		}
		if n >= most && !sleep(ctx.Done(), time.Millisecond) {
			return
		}
	}
}
