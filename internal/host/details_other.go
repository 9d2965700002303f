//go:build !linux

package host

import (
	"context"
	"net/netip"

	"github.com/shirou/gopsutil/v4/cpu"

	"soku/internal/measure"
)

// RouteMTU is unknown on this system.
func RouteMTU(netip.Addr) int { return 0 }

func detailSources(f measure.Facts) []detailSource {
	return []detailSource{func(context.Context) func(*measure.Details) {
		model, _ := adapter(f.Interface)
		if model == "" {
			return nil
		}
		return func(d *measure.Details) { d.NIC = &measure.NIC{Model: model} }
	}, func(ctx context.Context) func(*measure.Details) {
		cores, err := cpu.CountsWithContext(ctx, false)
		logical, bad := cpu.CountsWithContext(ctx, true)
		if err != nil || bad != nil || cores <= 0 {
			return nil
		}
		smt := logical > cores
		return func(d *measure.Details) { d.Processor = &measure.Processor{Cores: cores, SMT: &smt} }
	}}
}
