//go:build !linux && !windows

package host

import "soku/internal/host/cloud"

// firmware is empty: no cloud has machines with these systems that soku asks about.
func firmware() cloud.Firmware { return cloud.Firmware{} }
