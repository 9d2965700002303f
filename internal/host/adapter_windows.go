package host

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// adapter is what Windows calls the device of an interface, and its speed in Mbit/s; empty
// and 0 where it does not say.
func adapter(iface string) (model string, mbps int64) {
	size := uint32(15000) // that the documentation of GetAdaptersAddresses recommends
	for range 3 {         // the list may grow between two calls
		buffer := make([]byte, size)
		first := (*windows.IpAdapterAddresses)(unsafe.Pointer(unsafe.SliceData(buffer)))
		const flags = windows.GAA_FLAG_SKIP_UNICAST | windows.GAA_FLAG_SKIP_ANYCAST | windows.GAA_FLAG_SKIP_MULTICAST | windows.GAA_FLAG_SKIP_DNS_SERVER
		err := windows.GetAdaptersAddresses(windows.AF_UNSPEC, flags, 0, first, &size)
		if errors.Is(err, windows.ERROR_BUFFER_OVERFLOW) {
			continue
		}
		for a := first; err == nil && a != nil; a = a.Next {
			const unknown = 1<<64 - 1
			if windows.UTF16PtrToString(a.FriendlyName) != iface {
				continue
			}
			if a.TransmitLinkSpeed != unknown {
				mbps = int64(a.TransmitLinkSpeed / 1e6)
			}
			return windows.UTF16PtrToString(a.Description), mbps
		}
		break
	}
	return "", 0
}
