package trial

import (
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// warnDrops reports loss in the receiver's own socket, as opposed to loss on the path.
func warnDrops(f *measure.Flow, r *measure.Result) {
	n := f.Summary.SocketDrops
	if n == nil || *n == 0 || f.Summary.PacketsLost == 0 {
		return
	}
	r.Findings.Add(finding.SocketDrops, measure.Where(f.Direction), measure.Figures{
		"dropped_datagrams": min(*n, f.Summary.PacketsLost), "lost_datagrams": f.Summary.PacketsLost,
	})
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
	where, ratio := measure.Where(f.Direction), float64(joined)/float64(max(received, 1))
	switch name := unsplit(r.Hosts); {
	case f.TXPath == pathGSO && name != "":
		r.Findings.Add(finding.SegmentsNotSplit, where, measure.Figures{"interface": name})
	case f.TXPath == pathGSO && joined > 0:
		r.Findings.Add(finding.SegmentsArrivedJoined, where, measure.Figures{"joined_ratio": ratio})
	case joined > 0:
		r.Findings.Add(finding.DatagramsJoined, where, measure.Figures{"joined_ratio": ratio})
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
