package ingest

import (
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// maxHops is the largest hop limit of a packet.
const maxHops = 255

// route is the hops of a path that another program found, of one flow. A hop without an answer has
// no address.
type route struct {
	hops    []routeHop
	counted bool // with counts; otherwise there was one probe of each hop
	target  string
}

type routeHop struct {
	hop                         int
	address, name               string
	sent, lost                  int64
	last, mean, best, worst, sd float64 // ns
	hasTimes, hasSD             bool
}

// hopLine reads the number of a hop before ".|--", and what follows.
func hopLine(line string) (hop int, rest string, ok bool) {
	before, rest, found := strings.Cut(strings.TrimSpace(line), ".|--")
	n, ok := count(before)
	if !found || !ok || n < 1 || n > maxHops {
		return 0, "", false
	}
	return int(n), strings.TrimSpace(rest), true
}

// add adds a hop. Of several lines of one hop, for other nodes that answered there, the first counts.
func (t *route) add(h routeHop) {
	if n := len(t.hops); n == 0 || h.hop > t.hops[n-1].hop {
		t.hops = append(t.hops, h)
	}
}

// fill makes the trace of a result. The programs count a probe without an answer as lost.
func (t *route) fill(r *measure.Result, tool, probe string) {
	out := &measure.Trace{Probe: probe, Timing: &measure.Timing{Tool: tool}, Hops: []measure.TraceHop{}}
	flow := measure.TraceFlow{Path: []string{}}
	for _, h := range t.hops {
		hop := measure.TraceHop{Hop: h.hop, Sent: h.sent, Lost: h.lost}
		if h.sent > 0 {
			hop.LossRatio = float64(h.lost) / float64(h.sent)
		}
		if h.address != "" {
			hop.Nodes = []measure.TraceNode{{
				Address: h.address, Name: h.name, Target: h.address == t.target, Received: h.sent - h.lost,
				LastNs: h.last, MeanNs: h.mean, MinNs: h.best, MaxNs: h.worst, StdDevNs: h.sd, Flows: []int{0},
			}}
		}
		for len(flow.Path) < h.hop-1 {
			flow.Path = append(flow.Path, "")
		}
		flow.Path = append(flow.Path, h.address)
		out.Hops = append(out.Hops, hop)
		out.Sent += h.sent
		out.Rounds = max(out.Rounds, h.sent)
	}
	r.Trace = out
	n := len(t.hops)
	if n == 0 || t.hops[n-1].address == "" || t.target != "" && t.hops[n-1].address != t.target {
		missing(r, finding.NoTimes)
		out.Flows = []measure.TraceFlow{flow}
		return
	}
	out.Reached, flow.Reached = true, true
	out.Flows = []measure.TraceFlow{flow}
	t.summary(r, t.hops[n-1])
}

// summary sets the figures of the result from the target's answers.
func (t *route) summary(r *measure.Result, last routeHop) {
	got := last.sent - last.lost
	if t.counted {
		setLoss(&r.Summary, last.sent, last.lost)
	} else {
		missing(r, finding.NoLoss)
	}
	if !last.hasTimes {
		missing(r, finding.NoTimes)
		return
	}
	f := &measure.RTTFigures{Count: got, Mean: &last.mean, Min: &last.best, Max: &last.worst}
	if last.hasSD {
		f.StdDev = &last.sd
	}
	r.Summary.ReportedRTT = f
	missing(r, finding.NoHistogram, finding.NoPercentiles)
}
