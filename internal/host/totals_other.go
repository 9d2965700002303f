//go:build !linux

package host

import "runtime"

func readTotals() Totals {
	user, sys := processTimes()
	return Totals{CPUs: runtime.NumCPU(), ProcessNs: user + sys}
}

func processorMHz() float64 { return 0 }

func interfaceTraffic(string) (Traffic, bool) { return Traffic{}, false }

func interrupts(string) (int64, bool) { return 0, false }
