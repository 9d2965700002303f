//go:build !linux

package sock

import "net"

// HasFlowLabels tells whether flow labels can be chosen on this system.
const HasFlowLabels = false

func connectLabelled(uintptr, net.Addr, string, int) error { return lacking("flow_label") }
