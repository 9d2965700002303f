//go:build !linux

package mtu

import (
	"net/netip"

	"soku/internal/measure"
)

// routeMTU returns 0: this system has no prober either.
func routeMTU(netip.Addr, measure.Options) (bytes int, locked bool) { return 0, false }
