package host

import (
	"golang.org/x/sys/windows/registry"

	"soku/internal/host/cloud"
)

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
