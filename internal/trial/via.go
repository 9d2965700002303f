package trial

import (
	"context"

	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/ethr"
	"soku/internal/wire/iperf3"
	"soku/internal/wire/native"
	"soku/internal/wire/ntttcp"
)

// open begins a session in the protocol that the option via names.
func open(ctx context.Context, via, hostPort string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	switch via {
	case measure.ViaSoku:
		return native.Open(ctx, hostPort, r, h)
	case measure.ViaIperf3:
		return iperf3.Open(ctx, hostPort, r, h)
	case measure.ViaEthr:
		return ethr.Open(ctx, hostPort, r, h)
	case measure.ViaNtttcp:
		return ntttcp.Open(ctx, hostPort, r, h)
	}
	return nil, measure.Fail(measure.KindUsage, "trial.via", measure.Figures{"via": via, "own": measure.ViaSoku})
}
