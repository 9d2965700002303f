//go:build !linux && !windows

package host

// adapter is not known on this system.
func adapter(string) (model string, mbps int64) { return "", 0 }
