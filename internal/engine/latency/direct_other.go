//go:build !linux || !(amd64 || arm64) || race || plainloops

package latency

import (
	"context"
	"net"
	"time"
)

// openDirect has no way around the Go runtime here.
func openDirect(net.Conn, time.Duration, bool) (link, bool) { return nil, false }

// answerTogether has no links that spin here.
func answerTogether(context.Context, []link, int, bool) error { return nil }

// openSpinning has no link that spins here.
func (c *client) openSpinning(ctx context.Context) error { return c.openThreads(ctx) }
