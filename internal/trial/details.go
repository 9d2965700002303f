package trial

import (
	"cmp"
	"context"
	"net/netip"

	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// readDetails begins to read what takes longer about this host, when the packets have
// stopped. The function it returns waits for that and keeps it in r.
func readDetails(ctx context.Context, remote netip.Addr, r *measure.Result) (keep func()) {
	facts, found := r.Hosts.Client.Facts, make(chan measure.Details, 1)
	go func() { found <- host.Details(ctx, facts) }()
	mtu := host.RouteMTU(remote)
	return func() {
		r.Hosts.Client.Facts.Details = <-found
		r.Hosts.Client.Facts.RouteMTU = mtu
	}
}

// leastInterfaceBytes is what the interface must have moved before its parts are compared.
// leastFunctionShare is the least share of it that a virtual function moves in normal operation:
// broadcasts, and single packets while the adapter learns a flow, bypass the virtual function.
const (
	leastInterfaceBytes = 1_000_000
	leastFunctionShare  = 0.9
)

// warnBypassed reports accelerated networking that was there and did not carry the trial.
func warnBypassed(r *measure.Result) {
	for _, end := range []struct {
		where measure.Where
		host  *measure.Host
	}{{measure.AtClient, r.Hosts.Client}, {measure.AtServer, r.Hosts.Server}} {
		where, h := end.where, end.host
		if h == nil || h.Facts.NIC == nil || h.Facts.NIC.VirtualFunction == nil {
			continue
		}
		name, f := cmp.Or(h.Facts.NIC.Device, h.Facts.Interface), h.Facts.NIC.VirtualFunction
		switch f.State {
		case measure.VFUnbound, measure.VFApart, measure.VFDown:
			r.Findings.Add(finding.VirtualFunctionUnused, where, measure.Figures{
				"interface": name, "virtual_function": cmp.Or(f.Interface, f.Bus), "state": f.State,
			})
		case measure.VFActive:
			warnShare(r, where, name, h)
		}
	}
}

// warnShare compares what the interface and its virtual function moved.
func warnShare(r *measure.Result, where measure.Where, name string, h *measure.Host) {
	if h.Counters == nil || h.Counters.FunctionBytes == nil {
		return
	}
	all, over := h.Counters.RxBytes+h.Counters.TxBytes, h.Counters.FunctionBytes.Rx+h.Counters.FunctionBytes.Tx
	if all >= leastInterfaceBytes && float64(over) < leastFunctionShare*float64(all) {
		r.Findings.Add(finding.AcceleratedBypassed, where, measure.Figures{
			"interface": name, "virtual_function": h.Facts.NIC.VirtualFunction.Interface,
			"interface_bytes": all, "virtual_function_bytes": over,
		})
	}
}
