package host

import "soku/internal/host/cloud"

func firmware() cloud.Firmware { return tree("").firmware() }

// firmware reads the tables that everybody may read.
func (t tree) firmware() cloud.Firmware {
	const id = "/sys/class/dmi/id/"
	return cloud.Firmware{
		Vendor: t.read(id + "sys_vendor"), Product: t.read(id + "product_name"),
		AssetTag: t.read(id + "chassis_asset_tag"), BIOS: t.read(id + "bios_version"),
	}
}
