package host

import (
	"context"
	"net"

	"soku/internal/host/cloud"
	"soku/internal/measure"
)

// metadata is what the cloud says of this machine, which is the same for all who ask.
var metadata = cloud.NewMetadata()

// cloudSource asks the metadata service.
func cloudSource(f measure.Facts) detailSource {
	return func(ctx context.Context) func(*measure.Details) {
		answer := metadata.Of(ctx, firmware())
		if answer.Cloud.Provider == "" {
			return nil
		}
		found := answer.Cloud
		if i, err := net.InterfaceByName(f.Interface); err == nil {
			if direct, ok := answer.Direct[i.HardwareAddr.String()]; ok {
				found.Accelerated = &direct
			}
		}
		return func(d *measure.Details) { d.Cloud = &found }
	}
}

// accelerated reports whether the interface of the path is one that a cloud calls
// accelerated. It reads the system and not the machine's order, and returns nil if this is
// unknown.
func accelerated(provider, driver string, nic *measure.NIC) *bool {
	yes, no := true, false
	if nic != nil && nic.Driver != "" {
		driver = nic.Driver
	}
	switch provider + "/" + driver {
	case "azure/hv_netvsc":
		if nic == nil || nic.VirtualFunction == nil {
			return nil
		}
		if nic.VirtualFunction.State != measure.VFActive {
			return &no
		}
		return &yes
	case "azure/mlx5_core", "azure/mlx4_en", "azure/mana", "aws/ena", "aws/ixgbevf", "gcp/gve", "gcp/idpf":
		return &yes
	case "aws/vif", "gcp/virtio_net":
		return &no
	}
	return nil
}
