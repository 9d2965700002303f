package trial

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func connectEnd(opened, failed int64) *measure.End {
	h := measure.NewHistogram()
	for range opened {
		h.Record(200_000)
	}
	return &measure.End{
		Latency: &measure.Latency{Histogram: h, Sent: opened + failed, Received: opened, Lost: failed},
		Connect: &measure.Connect{Opened: opened, Failed: failed, OpenedPerSecond: 500, DurationNs: 4e9, ClientPath: "raw"},
	}
}

func TestConnectionsAreTheServersCount(t *testing.T) {
	r := resultOf(measure.TestConnect)
	accepted := int64(1800)
	assemble(r, connectEnd(2000, 50), &measure.End{Connect: &measure.Connect{Accepted: &accepted, AcceptedPerSecond: 450, ServerPath: "net"}}, nil)
	s, c := r.Summary, r.Connect
	if s.ConnectionsPerSecond != 450 || c.OpenedPerSecond != 500 || *c.Accepted != 1800 || c.ServerPath != "net" || c.ClientPath != "raw" {
		t.Errorf("summary %+v, connect %+v", s, c)
	}
	if s.RTT == nil || s.RTT.Count != 2000 || s.DurationNs != 4e9 || s.PacketsSent != 0 || *s.LossRatio != 50./2050 {
		t.Errorf("summary %+v", s)
	}
	wantFindings(t, "counts", r, warning(finding.ConnectionCountsDiffer, "", measure.Figures{"client_connections": 2000, "server_connections": 1800})...)
}

func TestWithoutAServerTheClientCountsConnections(t *testing.T) {
	r := resultOf(measure.TestConnect)
	assemble(r, connectEnd(1200, 0), &measure.End{}, nil)
	if s := r.Summary; s.ConnectionsPerSecond != 500 || r.Connect.Accepted != nil || s.Confidence != measure.High {
		t.Errorf("summary %+v", s)
	}
	wantFindings(t, "counts", r)
}

func TestConnectionsUnfinishedAtTheEndMayBeAccepted(t *testing.T) {
	r := resultOf(measure.TestConnect)
	own, accepted := connectEnd(100, 0), int64(164)
	own.Connect.Unfinished = 64
	assemble(r, own, &measure.End{Connect: &measure.Connect{Accepted: &accepted, AcceptedPerSecond: 500}}, nil)
	wantFindings(t, "counts", r)
}

func TestATrialWithoutAConnectionHasNoRate(t *testing.T) {
	r := resultOf(measure.TestConnect)
	own := connectEnd(0, 30)
	own.Connect.OpenedPerSecond = 0
	assemble(r, own, &measure.End{}, nil)
	if s := r.Summary; s.ConnectionsPerSecond != 0 || s.RTT != nil || *s.LossRatio != 1 || s.Confidence != measure.Low || s.ConfidenceFinding.Code != finding.NoConnection {
		t.Errorf("summary %+v", s)
	}
}
