//go:build !linux

package connect

func (p *pacer) ownThread() {}
