package trial

import (
	"soku/internal/measure"
	"soku/internal/tests"
)

// compareWithFloor attaches the stored loopback baseline of the client's host and
// reports figures that are near it. Only figures with the same paths into and out of
// the kernel and the same way of timing are compared.
func compareWithFloor(r *measure.Result, lookup func(measure.Facts) *measure.HostFloor) {
	client := r.Hosts.Client
	if lookup == nil || client == nil {
		return
	}
	if client.Floor = lookup(client.Facts); client.Floor == nil {
		return
	}
	if d := tests.Of(r.Test); d != nil && d.Compare != nil {
		d.Compare(r, client.Floor)
	}
}
