package text

import (
	"strings"

	"soku/internal/measure"
)

// MTULimit says what limits a path MTU. Names of hops come from the network: filter the
// sentence before you write it to a terminal.
func MTULimit(m *measure.PathMTU) Line {
	args := Args{"MTU": m.InterfaceBytes, "After": hopArgs(m.After), "Before": hopArgs(m.Before), "Failed": m.FailedBytes, "Reply": false}
	switch m.Limit {
	case measure.LimitInterface:
		if m.FailedBytes == 0 && (m.RouteBytes == 0 || m.RouteBytes >= m.InterfaceBytes) {
			return Line{Key: "mtu.limit.interface", Args: args}
		}
		return Line{Key: "mtu.limit.route", Args: args}
	case measure.LimitReported:
		return Line{Key: "mtu.limit.reported", Args: args}
	case measure.LimitBlackHole:
		args["Reply"] = m.Probe == "icmp" && len(m.Hops) > 0 && m.Before != nil && m.Before.Hop == m.Hops[len(m.Hops)-1].Hop
		return Line{Key: "mtu.limit.black_hole", Args: args}
	}
	if m.FailedBytes == 0 {
		return Line{Key: "mtu.limit.unfinished", Args: args}
	}
	return Line{Key: "mtu.limit.silent", Args: args}
}

// MTULimitShort is MTULimit for a cell of a table, without names.
func MTULimitShort(m *measure.PathMTU) Line {
	l := MTULimit(m)
	return Line{Key: "mtu.cell." + strings.TrimPrefix(l.Key, "mtu.limit."), Args: l.Args}
}

// MTUFlows says what limits flows with one path MTU; flows are their numbers. Names of hops
// come from the network, as in [MTULimit].
func MTUFlows(m *measure.PathMTU, f measure.MTUFlow, n int, flows string) Line {
	own := *m
	own.Bytes, own.FailedBytes, own.Limit, own.After, own.Before = f.Bytes, f.FailedBytes, f.Limit, f.After, f.Before
	l := MTULimit(&own)
	kind := strings.TrimPrefix(l.Key, "mtu.limit.")
	if f.Bytes == 0 {
		kind = "no_answer"
	}
	l.Args["N"], l.Args["Flows"], l.Args["Bytes"] = n, flows, f.Bytes
	return Line{Key: "mtu.flow." + kind, Args: l.Args}
}

// hopArgs are the members of a hop that sentences write, or nil if h is nil.
func hopArgs(h *measure.MTUHop) map[string]any {
	if h == nil {
		return nil
	}
	return map[string]any{"Hop": h.Hop, "Name": h.Name, "Address": h.Address}
}
