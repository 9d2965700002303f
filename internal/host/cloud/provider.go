package cloud

import "strings"

// Providers, as in [measure.Cloud].
const (
	Azure     = "azure"
	AWS       = "aws"
	GCP       = "gcp"
	Akamai    = "akamai"
	OpenStack = "openstack"
)

// Firmware is what the tables of a machine (SMBIOS) say of its maker. Members that cannot
// be read are empty.
type Firmware struct {
	Vendor, Product string // of the system
	AssetTag        string // of the chassis
	BIOS            string // version
}

// AzureTag is the tag of the chassis of every machine of Azure, and of no other of Hyper-V.
const AzureTag = "7783-7084-3265-9085-8269-3286-77"

// ProviderOf is the cloud whose machines have such a firmware, or "". A machine elsewhere that
// has the same hypervisor is of no cloud: what answers at the address of the metadata service
// there is another program.
func ProviderOf(f Firmware) string {
	switch {
	case f.AssetTag == AzureTag:
		return Azure
	case f.Vendor == "Amazon EC2", strings.HasSuffix(f.BIOS, ".amazon"): // Nitro, Xen
		return AWS
	case f.Product == "Google Compute Engine":
		return GCP
	case f.Vendor == "Akamai", f.Vendor == "Linode":
		return Akamai
	case strings.HasPrefix(f.Product, "OpenStack "), strings.HasPrefix(f.AssetTag, "OpenStack "),
		f.AssetTag == "OpenTelekomCloud", f.AssetTag == "SAP CCloud VM", f.AssetTag == "HUAWEICLOUD":
		return OpenStack
	}
	return ""
}
