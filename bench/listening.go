package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// waitListening waits until the process has its port open, without connecting to it: a
// server that serves one client would take the probe for its client. It reads the kernel's
// table of the process's network namespace; without one it waits a fixed time. False means
// that the process ended or never listened.
func waitListening(ctx context.Context, pid, port int, udp bool, gone <-chan struct{}) bool {
	table, state := "tcp", " 0A "
	if udp {
		table, state = "udp", " 07 "
	}
	want := fmt.Sprintf(":%04X ", port)
	for range 1500 {
		select {
		case <-ctx.Done():
			return false
		case <-gone:
			return false
		case <-time.After(2 * time.Millisecond):
		}
		known := false
		for _, family := range []string{"", "6"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s%s", pid, table, family))
			if err != nil {
				continue
			}
			known = true
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1]+" ", want) && " "+f[3]+" " == state {
					return true
				}
			}
		}
		if !known {
			time.Sleep(300 * time.Millisecond)
			return true
		}
	}
	return false
}
