//go:build !linux

package latency

import "time"

// ownThread leaves the pacer on the runtime's timers.
func (p *pacer) ownThread() {}

func nap(d time.Duration) { time.Sleep(d) }
