package trial

import (
	"fmt"

	"soku/internal/measure"
)

// warnDrops tells loss in the receiver's own socket from loss on the path.
func warnDrops(f *measure.Flow, r *measure.Result) {
	n := f.Summary.SocketDrops
	if n == nil || *n == 0 || f.Summary.PacketsLost == 0 {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf(
		"%s: %d of the %d lost datagrams reached the receiving host and found its socket full: the host was too slow, not the path (a larger --window or a lower --rate helps)",
		f.Direction, min(*n, f.Summary.PacketsLost), f.Summary.PacketsLost))
}

// pathGSO is the value of the option tx whose datagrams leave the program as
// segments that something below splits.
const pathGSO = "gso"

// warnSegments says when datagrams cannot have been alone on a wire.
func warnSegments(f *measure.Flow, r *measure.Result) {
	var joined, received int64
	for _, s := range f.Streams {
		if s.Packets != nil {
			joined += s.Packets.Joined
			received += s.Packets.Received
		}
	}
	switch name := unsplit(r.Hosts); {
	case f.TXPath == pathGSO && name != "":
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"%s: tx gso over %s: nothing on this path splits segments, so no datagram was alone on a wire; packets a second count what the programs handed over",
			f.Direction, name))
	case f.TXPath == pathGSO && joined > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"%s: tx gso: %.0f %% of the datagrams came to the receiver joined; whether each was alone on the wire cannot be told",
			f.Direction, 100*float64(joined)/float64(max(received, 1))))
	case joined > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"%s: rx gro: the receiving host joined %.0f %% of the datagrams before it handed them over; the time of arrival of a joined one, and so the jitter, is that of the first",
			f.Direction, 100*float64(joined)/float64(max(received, 1))))
	}
}

// unsplit names an interface at either end that carries segments as they are,
// or is empty.
func unsplit(hosts measure.Hosts) string {
	for _, h := range []*measure.Host{hosts.Client, hosts.Server} {
		if h != nil && (h.Facts.Interface == "lo" || h.Facts.Driver == "veth") {
			return h.Facts.Interface
		}
	}
	return ""
}
