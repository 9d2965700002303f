package trial

import (
	"context"
	"net/netip"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/tests"
)

// interruptedResult is the result of a test without a server that the end of its context ended, and
// its error.
func interruptedResult(t *testing.T, endless bool, found tests.ServerlessResult) (*measure.Result, error) {
	t.Helper()
	ctx, interrupt := context.WithCancelCause(t.Context())
	cause := measure.Fail(measure.KindInterrupted, "cli.interrupted", nil)
	d := &tests.Descriptor{
		Serverless: func(ctx context.Context, a tests.Serverless) (tests.ServerlessResult, error) {
			err := a.Begin()
			interrupt(cause)
			if err == nil {
				err = context.Cause(ctx)
			}
			return found, err
		},
		Conditions: func(measure.Options, *measure.End) string { return "" },
		Overhead: func(ctx context.Context, _ measure.Options, _ *measure.End) (*measure.FloorReading, error) {
			return &measure.FloorReading{RTT: measure.Percentiles{P50: 1e3}}, ctx.Err()
		},
	}
	o, err := option.Effective(option.Defaults(measure.TestPing), measure.TestPing)
	if err != nil {
		t.Fatal(err)
	}
	o.Count = 1_000_000_000
	r := &measure.Result{Test: measure.TestPing, Options: o, Hosts: measure.Hosts{Client: &measure.Host{}}}
	err = runServerless(ctx, Spec{Test: measure.TestPing, Endless: endless}, d, netip.MustParseAddr("127.0.0.1"), o, nil, Hooks{}, r)
	return r, err
}

// replies are round trips of 20 ms of which the program got to know one millisecond later.
func replies(sent, received, lost, duplicated int64) *measure.Latency {
	l := &measure.Latency{Sent: sent, Received: received, Lost: lost, Duplicated: duplicated, Histogram: measure.NewHistogram(), Application: measure.NewHistogram()}
	for range received {
		l.Histogram.Record(20e6)
		l.Application.Record(21e6)
	}
	return l
}

func TestAnInterruptEndsAnEndlessTestRegularly(t *testing.T) {
	r, err := interruptedResult(t, true, tests.ServerlessResult{End: measure.End{Latency: replies(9, 5, 1, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	// Three requests were under way: they are neither answered nor lost.
	l, s := r.Latency, r.Summary
	if l.Sent != 6 || l.Sent-l.Received != l.Lost || s.PacketsSent != 6 || s.PacketsLost != 1 || *s.LossRatio != 1./6 || s.PacketsDuplicated != 2 || r.Options.Count != 6 {
		t.Errorf("%d sent, %d received, %d lost; %+v; count %d", l.Sent, l.Received, l.Lost, s, r.Options.Count)
	}
	if l.Floor == nil || len(r.Findings.With(finding.HostBusy)) != 1 || len(r.Findings.With(finding.BaselineFailed)) != 0 {
		t.Errorf("overhead %+v, findings %+v", l.Floor, r.Findings)
	}
	r, err = interruptedResult(t, true, tests.ServerlessResult{
		End:   measure.End{Latency: replies(7, 7, 0, 0)},
		Trace: &measure.Trace{Rounds: 4, Hops: []measure.TraceHop{{Hop: 1}}},
	})
	if err != nil || r.Options.Count != 4 {
		t.Errorf("trace: %v, count %d", err, r.Options.Count)
	}
}

func TestAnInterruptFailsATestThatHasACountOrNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		endless bool
		found   tests.ServerlessResult
	}{
		"count":                   {false, tests.ServerlessResult{End: measure.End{Latency: replies(9, 5, 1, 0)}}},
		"no reply":                {true, tests.ServerlessResult{End: measure.End{Latency: replies(9, 0, 6, 0)}}},
		"trace without an answer": {true, tests.ServerlessResult{Trace: &measure.Trace{Rounds: 4}}},
	} {
		r, err := interruptedResult(t, c.endless, c.found)
		if measure.KindOf(err) != measure.KindInterrupted || r.Options.Count != 1_000_000_000 {
			t.Errorf("%s: %v, count %d", name, err, r.Options.Count)
		}
	}
}
