//go:build !linux

package host

// ProcessorMHz is how fast the first processor runs now, 0 where the system does not
// report it.
func ProcessorMHz() float64 { return 0 }

// Interrupts is false: this system has no list of interrupts.
func Interrupts(string) (int64, bool) { return 0, false }
