//go:build darwin

package host

import (
	"golang.org/x/sys/unix"

	"soku/internal/host/cloud"
)

// bootID is drawn by the kernel at each start.
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

// instanceID is empty: what macOS has names the hardware, not a deployment.
func instanceID() string { return "" }

// adapter is not known on this system.
func adapter(string) (model string, mbps int64) { return "", 0 }

// firmware is empty: no cloud has machines with these systems that soku asks about.
func firmware() cloud.Firmware { return cloud.Firmware{} }
