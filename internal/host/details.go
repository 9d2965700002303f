package host

import (
	"context"
	"net"
	"time"

	"soku/internal/host/cloud"
	"soku/internal/measure"
)

// detailsTime bounds [Details].
const detailsTime = 250 * time.Millisecond

// Details reads what [Facts] leaves out because it takes longer: some milliseconds, and in
// a cloud the answer of its metadata service. facts are those of this host and the path. It
// is meant for the time when no packets are measured. The path itself is asked for by [RouteMTU].
//
// It never fails and takes less than 300 ms: a source that cannot be read, or does not
// answer in time, has no members. It starts goroutines, each of which ends with its read;
// one that hangs in the system stays until the system lets it go. They describe the
// interface in the network namespace of the process. It is safe for concurrent use.
func Details(ctx context.Context, facts measure.Facts) measure.Details {
	d := gather(ctx, detailsTime, append(detailSources(facts), cloudSource(facts)))
	if d.Cloud != nil && d.Cloud.Accelerated == nil {
		d.Cloud.Accelerated = accelerated(d.Cloud.Provider, facts.Driver, d.NIC)
	}
	return d
}

// detailSource reads some members. What it returns sets them, or is nil.
type detailSource func(context.Context) func(*measure.Details)

// gather asks all sources concurrently and returns what they report within most.
func gather(ctx context.Context, most time.Duration, sources []detailSource) measure.Details {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	answers := make(chan func(*measure.Details), len(sources))
	for _, read := range sources {
		go func() { answers <- read(ctx) }()
	}
	var d measure.Details
	for range sources {
		select {
		case set := <-answers:
			if set != nil {
				set(&d)
			}
		case <-ctx.Done():
			return d
		}
	}
	return d
}

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
