package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/text"
)

func progressOf(width int) (*progress, *bytes.Buffer) {
	var b bytes.Buffer
	return &progress{w: &b, catalogue: text.English(), width: func() int { return width }}, &b
}

func trialEvent(kind campaign.EventKind, pattern string) campaign.Event {
	j := &schedule.Job{Trial: measure.Trial{Pattern: pattern, Label: "throughput"}}
	return campaign.Event{Kind: kind, Job: j, Done: 7, Failed: 2, Total: 240, Left: 100 * time.Minute,
		Progress: &measure.Progress{Direction: measure.Forward, Role: measure.Receiver, Bps: 941.5e6},
		Result:   &measure.Result{Test: measure.TestTCP, Trial: &j.Trial, Summary: measure.Summary{GoodputBps: 941.5e6}}}
}

func TestTheLiveLineFitsTheTerminal(t *testing.T) {
	for _, width := range []int{200, 80, 60, 40, 20, 8, 2} {
		p, b := progressOf(width)
		for _, pattern := range []string{"ultra / 16", strings.Repeat("とても長い名前", 20)} {
			for _, kind := range []campaign.EventKind{campaign.EventTrial, campaign.EventProgress, campaign.EventResult} {
				b.Reset()
				p.event(trialEvent(kind, pattern))
				line := strings.TrimSuffix(strings.TrimPrefix(b.String(), "\r"), "\x1b[K")
				if kind == campaign.EventResult { // it stays, above the next live line
					line = strings.TrimSuffix(strings.TrimPrefix(b.String(), "\r\x1b[K"), "\n")
				}
				if strings.ContainsAny(line, "\r\n\x1b") || text.Terminal.StringWidth(line) >= width {
					t.Errorf("on %d columns the line has %d: %q", width, text.Terminal.StringWidth(line), line)
				}
			}
		}
	}
}

func TestTheLiveLineShowsTrialRateAndTime(t *testing.T) {
	p, b := progressOf(100)
	p.event(trialEvent(campaign.EventTrial, "ultra / 16"))
	b.Reset()
	p.event(trialEvent(campaign.EventProgress, "ultra / 16"))
	if got := b.String(); got != "\r[  7/240] ultra / 16 · throughput · 941.5 Mbit/s · 2 failed · 1 h 40 min left\x1b[K" {
		t.Errorf("line is %q", got)
	}
	b.Reset()
	p.event(campaign.Event{Kind: campaign.EventProgress, Job: trialEvent(0, "ultra / 16").Job, Progress: &measure.Progress{RTT: &measure.Percentiles{P50: 48_210}}})
	if !strings.Contains(b.String(), "48.21 µs") {
		t.Errorf("line is %q", b)
	}
}

func TestBothDirectionsAddUp(t *testing.T) {
	p, b := progressOf(100)
	p.event(trialEvent(campaign.EventTrial, "x"))
	e := trialEvent(campaign.EventProgress, "x")
	p.event(e)
	e.Progress = &measure.Progress{Direction: measure.Reverse, Role: measure.Receiver, Bps: 58.5e6}
	b.Reset()
	p.event(e)
	if !strings.Contains(b.String(), "1.000 Gbit/s") {
		t.Errorf("line is %q", b)
	}
}

func TestWithoutATerminalEachResultIsOneLine(t *testing.T) {
	p, b := progressOf(0)
	p.event(trialEvent(campaign.EventTrial, "ultra"))
	p.event(trialEvent(campaign.EventProgress, "ultra"))
	p.event(trialEvent(campaign.EventResult, "ultra"))
	p.clear()
	if got := b.String(); got != "[  7/240] ultra, throughput: 941.5 Mbit/s\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestAFinishedTrialStaysAboveTheLiveLine(t *testing.T) {
	p, b := progressOf(80)
	p.event(trialEvent(campaign.EventTrial, "ultra"))
	b.Reset()
	p.event(trialEvent(campaign.EventResult, "ultra"))
	p.event(trialEvent(campaign.EventTrial, "basic"))
	want := "\r\x1b[K[  7/240] ultra, throughput: 941.5 Mbit/s\n\r[  7/240] basic · throughput · 2 failed · 1 h 40 min left\x1b[K"
	if got := b.String(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestAFailureStaysAboveTheLiveLine(t *testing.T) {
	p, b := progressOf(40) // the reason is longer
	p.event(trialEvent(campaign.EventTrial, "ultra"))
	e := trialEvent(campaign.EventResult, "ultra")
	e.Result.Error = measure.TextError(measure.KindBroken, "peer \x1b[31mgone\nfor good", "")
	b.Reset()
	p.event(e)
	if got := b.String(); got != "\r\x1b[K[  7/240] ultra, throughput: failed: peer \uFFFD[31mgone for good\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestACommandThatFailsIsALineWithTheReason(t *testing.T) {
	p, b := progressOf(0)
	e := campaign.Event{Kind: campaign.EventCommandDone, Command: &journal.CommandRecord{Pattern: "ultra", When: "before"}}
	p.event(e)
	e.Error = measure.TextError(measure.KindBroken, "exit\nstatus 3", "")
	p.event(e)
	if got := b.String(); got != "ultra: the before command failed: exit status 3\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestRoughTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 8400 * time.Millisecond: "8 s", 12 * time.Minute: "12 min", 200 * time.Minute: "3 h 20 min", 120 * time.Minute: "2 h", 60 * time.Hour: "2.5 days",
	} {
		if got := roughly(text.English(), d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTheLiveLineOfPairsCountsWhatRuns(t *testing.T) {
	p, b := progressOf(100)
	p.pairs = true
	of := func(kind campaign.EventKind, client, server string) campaign.Event {
		e := trialEvent(kind, "isolated")
		e.Job.Trial.Levels = []measure.Level{{Factor: "contention", Value: "isolated"}}
		e.Job.Client.Endpoint.Name, e.Job.Server.Endpoint.Name = client, server
		return e
	}
	p.event(of(campaign.EventTrial, "a", "b"))
	if got := b.String(); got != "\r[  7/240] isolated, a → b · throughput · 2 failed · 1 h 40 min left\x1b[K" {
		t.Errorf("one trial: %q", got)
	}
	p.event(of(campaign.EventTrial, "c", "d"))
	p.event(of(campaign.EventProgress, "a", "b"))
	b.Reset()
	p.event(of(campaign.EventProgress, "c", "d"))
	if got := b.String(); got != "\r[  7/240] isolated · throughput · 2 trials running · 1.883 Gbit/s · 2 failed · 1 h 40 min left\x1b[K" {
		t.Errorf("two trials: %q", got)
	}
	b.Reset()
	p.event(of(campaign.EventResult, "a", "b"))
	if got := b.String(); got != "\r\x1b[K[  7/240] isolated, a → b, throughput: 941.5 Mbit/s\n" {
		t.Errorf("a result: %q", got)
	}
	b.Reset()
	p.event(of(campaign.EventProgress, "c", "d"))
	if got := b.String(); got != "\r[  7/240] isolated, c → d · throughput · 941.5 Mbit/s · 2 failed · 1 h 40 min left\x1b[K" {
		t.Errorf("one trial left: %q", got)
	}
}

func TestAFailureIsShownOnceAndCounted(t *testing.T) {
	failed := func() campaign.Event {
		e := trialEvent(campaign.EventResult, "ultra / 16")
		e.Result.Error = measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "vm2:7658"})
		return e
	}
	for width, want := range map[int]string{
		100: "", // the live line has the number of failures
		0:   "[  7/240] ultra / 16, throughput: failed, for the same reason (2 trials)\n",
	} {
		p, b := progressOf(width)
		p.event(failed())
		if !strings.Contains(b.String(), "vm2:7658: refused") {
			t.Errorf("on %d columns the first failure is %q", width, b)
		}
		b.Reset()
		p.event(failed())
		if got := b.String(); want != "" && got != want || want == "" && (strings.Contains(got, "\n") || !strings.Contains(got, "2 failed")) {
			t.Errorf("on %d columns the second one is %q", width, got)
		}
		b.Reset()
		p.end()
		if got := b.String(); strings.Count(got, "refused") != 1 || !strings.Contains(got, "(2 trials)") {
			t.Errorf("on %d columns the end is %q", width, got)
		}
	}
}
