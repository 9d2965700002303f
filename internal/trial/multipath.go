package trial

import (
	"net"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/sock"
)

// tally is how many of a trial's connections were of Multipath TCP, and how many of TCP.
type tally struct{ multipath, single int }

// tallyOf counts those of which it is known.
func tallyOf(conns []*net.TCPConn) (t tally) {
	for _, c := range conns {
		switch is, known := sock.Multipath(c); {
		case is:
			t.multipath++
		case known:
			t.single++
		}
	}
	return t
}

// warnMultipath says where connections were not what was asked for. A connection may
// fall back to TCP when it opens and later, and never comes back, so that both tallies
// count.
func warnMultipath(r *measure.Result, before, after tally) {
	all := before.multipath + before.single
	fell := max(before.single, after.single)
	switch {
	case r.Options.Multipath && fell > 0:
		r.Findings.Add(finding.MultipathFellBack, "", measure.Figures{"fell_back": fell, "connections": all})
	case !r.Options.Multipath && before.multipath > 0:
		r.Findings.Add(finding.MultipathNotRequested, "", measure.Figures{"multipath": before.multipath, "connections": all})
	}
}
