//go:build !linux || !(amd64 || arm64) || race || plainloops

package latency

import (
	"context"
	"net"
	"time"

	"soku/internal/engine"
)

// openDirect reports false: this build has no loops outside of the Go runtime.
func openDirect(net.Conn, time.Duration, bool) (link, bool) { return nil, false }

// answerTogether does nothing: this build has no spinning links.
func answerTogether(context.Context, []link, int, bool, engine.Limit) error { return nil }

// openSpinning is openThreads: this build has no spinning links.
func (c *client) openSpinning(ctx context.Context) error { return c.openThreads(ctx) }
