package trial

import (
	"soku/internal/measure"
	"soku/internal/tests"
)

// compareWithFloor attaches what is kept of the client's host and warns where a
// figure is near it. Like is compared with like: the same ways into and out of
// the kernel, the same way of timing.
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
