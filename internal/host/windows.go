//go:build windows

package host

import (
	"errors"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"soku/internal/host/cloud"
)

// processTimes is the processor time of this process, all threads.
func processTimes() (userNs, sysNs int64) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0, 0
	}
	span := func(f windows.Filetime) int64 { return (int64(f.HighDateTime)<<32 | int64(f.LowDateTime)) * 100 }
	return span(user), span(kernel)
}

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

// bootID is the number of the start, which Windows counts.
func bootID() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	n, _, err := k.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// instanceID is drawn when Windows is installed, or deployed from an image.
func instanceID() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer k.Close()
	id, _, _ := k.GetStringValue("MachineGuid")
	return id
}

// firmware is what Windows has copied from the firmware's tables.
func firmware() (f cloud.Firmware) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\BIOS`, registry.QUERY_VALUE)
	if err != nil {
		return f
	}
	defer k.Close()
	f.Vendor, _, _ = k.GetStringValue("SystemManufacturer")
	f.Product, _, _ = k.GetStringValue("SystemProductName")
	f.BIOS, _, _ = k.GetStringValue("BIOSVersion")
	// The tag of the chassis is not among them; the agent of Azure has a key of its own.
	if agent, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Windows Azure`, registry.QUERY_VALUE); err == nil {
		agent.Close()
		if f.Vendor == "Microsoft Corporation" {
			f.AssetTag = cloud.AzureTag
		}
	}
	return f
}
