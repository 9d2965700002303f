//go:build !linux

package sock

import "net"

// HasFlowLabels reports whether this system lets a program choose flow labels.
const HasFlowLabels = false

func connectLabelled(uintptr, net.Addr, string, int) error { return unsupported("flow_label") }
