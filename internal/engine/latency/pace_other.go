//go:build !linux

package latency

// ownThread leaves the pacer on the runtime's timers.
func (p *pacer) ownThread() {}
