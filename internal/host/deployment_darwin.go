package host

import "golang.org/x/sys/unix"

// bootID is drawn by the kernel at each start.
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

// instanceID is empty: what macOS has names the hardware, not a deployment.
func instanceID() string { return "" }
