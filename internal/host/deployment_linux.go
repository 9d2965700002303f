package host

import (
	"slices"
	"strings"

	"soku/internal/host/cloud"
)

// bootID is drawn by the kernel at each start.
func bootID() string { return read("/proc/sys/kernel/random/boot_id") }

func instanceID() string { return instanceIn(read) }

// instanceIn finds the instance's identity in the files of the system. cloud-init
// stores the cloud's identity; without cloud-init the firmware has it: on AWS every
// user can read it, on other clouds it is the machine's UUID, which only root can read.
func instanceIn(read func(path string) string) string {
	// What cloud-init writes where no cloud named the instance is the same everywhere.
	nameless := []string{"", "nocloud", "iid-datasource-none"}
	if id := read("/var/lib/cloud/data/instance-id"); !slices.Contains(nameless, id) {
		return id
	}
	if tag := read("/sys/class/dmi/id/board_asset_tag"); strings.HasPrefix(tag, "i-") {
		return tag
	}
	return read("/sys/class/dmi/id/product_uuid")
}

func firmware() cloud.Firmware { return tree("").firmware() }

// firmware reads the tables that everybody may read.
func (t tree) firmware() cloud.Firmware {
	const id = "/sys/class/dmi/id/"
	return cloud.Firmware{
		Vendor: t.read(id + "sys_vendor"), Product: t.read(id + "product_name"),
		AssetTag: t.read(id + "chassis_asset_tag"), BIOS: t.read(id + "bios_version"),
	}
}
