package text

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// figure finds the figures of a finding that a message writes.
var figure = regexp.MustCompile(`\.([a-z]\w*)`)

func TestEveryCodeHasItsSentenceAndEverySentenceItsCode(t *testing.T) {
	messages := messagesOf(t, "en")
	for key := range messages {
		code, is := strings.CutPrefix(key, "finding.")
		if _, known := finding.Describe(finding.Code(code)); is && !known && code != "unknown" {
			t.Errorf("%s: there is no such code", key)
		}
	}
	for _, info := range finding.All() {
		m, there := messages["finding."+string(info.Code)]
		if !there {
			t.Errorf("%s has no message", info.Code)
			continue
		}
		for form, text := range m.forms {
			for _, a := range action.FindAllString(text, -1) {
				for _, found := range figure.FindAllStringSubmatch(a, -1) {
					known := func(f finding.Figure) bool { return f.Key == found[1] }
					if found[1] != "where" && !slices.ContainsFunc(info.Figures, known) {
						t.Errorf("%s (%s) writes %s, which is no figure of the code", info.Code, form, found[1])
					}
				}
			}
		}
	}
}

// sample is a finding with its figures. Whole: also those that may be absent. Instead:
// those that stand in for others.
func sample(info finding.Info, whole, instead bool) measure.Finding {
	figures := measure.Figures{}
	for _, f := range info.Figures {
		replaced := func(o finding.Figure) bool { return o.Instead == f.Key }
		switch {
		case f.Optional && !whole, f.Instead != "" && !instead, instead && slices.ContainsFunc(info.Figures, replaced):
		case f.Text:
			figures[f.Key] = "text of " + f.Key
		default:
			figures[f.Key] = 7.0
		}
	}
	return measure.NewFinding(info.Code, measure.AtClient, figures)
}

func TestEveryFindingIsSaidWithAndWithoutItsOptionalFigures(t *testing.T) {
	for _, info := range finding.All() {
		for i := range 4 {
			got := English().Finding(sample(info, i&1 != 0, i&2 != 0))
			if got == "" || strings.Contains(got, "map[") || strings.Contains(got, "<no value>") || strings.Contains(got, "<nil>") {
				t.Errorf("%s: %q", info.Code, got)
			}
		}
	}
}

func TestASentenceOfAFindingWritesItsFigures(t *testing.T) {
	for want, f := range map[string]measure.Finding{
		"forward: the sender counted 30.00 MB, the receiver 25.00 MB; the receiver's count is used": measure.NewFinding(finding.ReceiverDisagrees, "forward", measure.Figures{"sent_bytes": 3e7, "received_bytes": 2.5e7}),
		"the clock stepped": measure.TextFinding("the clock stepped"),
		"1 of 1 connection fell back to TCP over one path: the server, its host (net.mptcp.enabled) or a middlebox does not support Multipath TCP": measure.NewFinding(finding.MultipathFellBack, "", measure.Figures{"fell_back": 1, "connections": 1}),
		"the median of 50.00 µs is close to what this host and program add by themselves: 20.00 µs on loopback":                                    measure.NewFinding(finding.RTTNearBaseline, "", measure.Figures{"rtt_ns": 50_000, "baseline_ns": 20_000}),
		"the median of 50.00 µs is close to what this host and program add by themselves: 20.00 µs on loopback (soku floor, 2 days ago)":           measure.NewFinding(finding.RTTNearBaseline, "", measure.Figures{"rtt_ns": 50_000, "baseline_ns": 20_000, "baseline_age_ns": 50 * time.Hour}),
		"too fast to measure here: host and program alone need 8.000 ms on loopback, the median is 10.70 µs":                                       measure.NewFinding(finding.TooFastToMeasure, "", measure.Figures{"rtt_ns": 10_700, "baseline_ns": 8_000_000}),
		"the median of 50.00 µs is close to what this host and program add by themselves: 20.00 µs on loopback (soku floor, just now)":             measure.NewFinding(finding.RTTNearBaseline, "", measure.Figures{"rtt_ns": 50_000, "baseline_ns": 20_000, "baseline_age_ns": 0}),
		"126 % above b (95 % interval 120 to 133 %, 2 rounds)":                                                                                     measure.NewFinding(finding.RankAbove, "", measure.Figures{"than": "b", "difference_ratio": 1.26, "low_ratio": 1.2, "high_ratio": 1.33, "rounds": 2}),
		"3.0 % below b (95 % interval 1.0 to 5.0 %, not paired)":                                                                                   measure.NewFinding(finding.RankBelow, "", measure.Figures{"than": "b", "difference_ratio": -0.03, "low_ratio": -0.05, "high_ratio": -0.01}),
		"7 above b (95 % interval 6 to 8, 2 rounds)":                                                                                               measure.NewFinding(finding.RankAbove, "", measure.Figures{"than": "b", "difference": 7, "low": 6, "high": 8, "rounds": 2}),
		"forward: steady from 1.2 s":              measure.NewFinding(finding.Steady, "forward", measure.Figures{"from_ns": 1.2e9}),
		"1 round trip, too few for percentiles":   measure.NewFinding(finding.FewForPercentiles, "", measure.Figures{"round_trips": 1}),
		"40 connections, too few for percentiles": measure.NewFinding(finding.FewForPercentiles, "", measure.Figures{"connections": 40}),
		"not told apart from b: 0.8 % below it (95 % interval −11.5 to 0.0 %, 3 rounds)": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": -0.0082, "low_ratio": -0.115, "high_ratio": 0, "rounds": 3, "needed_rounds": 35}),
		"not told apart from b: 0.82 % below it (95 % interval −11.50 to 0.03 %, 3 rounds)": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": -0.0082, "low_ratio": -0.115, "high_ratio": 0.0003, "rounds": 3}),
		"not told apart from b: 30 % above it (95 % interval −20 to 120 %, 3 rounds)": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": 0.3, "low_ratio": -0.2, "high_ratio": 1.2, "rounds": 3}),
		"not told apart from b: 28.7 % below it, and 4 rounds are too few to tell; about 6 more would show a difference of this size": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": -0.287, "low_ratio": -0.918, "high_ratio": 5.23, "rounds": 4, "needed_rounds": 10}),
		"not told apart from b: 28.7 % below it, and 4 rounds are too few to tell": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": -0.287, "low_ratio": -0.5, "high_ratio": 1, "rounds": 4}),
		"not told apart from b: 0.01 % below it (95 % interval −1.80 to 1.80 %, 4 rounds)": measure.NewFinding(
			finding.RankNoDifference, "", measure.Figures{"than": "b", "difference_ratio": -0.0001, "low_ratio": -0.018, "high_ratio": 0.018, "rounds": 4}),
		"82.5 % above b (95 % interval 1.1 to 14 times as much, 4 rounds)": measure.NewFinding(
			finding.RankAbove, "", measure.Figures{"than": "b", "difference_ratio": 0.825, "low_ratio": 0.1, "high_ratio": 13.0, "rounds": 4}),
		"17.0 % below b (95 % interval 0.0 to 32.4 %, 4 rounds)": measure.NewFinding(
			finding.RankBelow, "", measure.Figures{"than": "b", "difference_ratio": -0.17, "low_ratio": -0.324, "high_ratio": 0.0, "rounds": 4}),
		"of_a_later_version (server): size_bytes 7": {Code: "of_a_later_version", Where: "server", Figures: measure.Figures{"size_bytes": 7.0}},
	} {
		if got := English().Finding(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A document is untrusted input: missing members or members of another kind must not
// stop a report.
func TestAFindingWithoutItsFiguresIsShownAsItIs(t *testing.T) {
	got := English().Finding(measure.Finding{Code: finding.ReceiverDisagrees, Where: "x", Figures: measure.Figures{"sent_bytes": "many"}})
	if !strings.Contains(got, "receiver_disagrees") || !strings.Contains(got, "many") {
		t.Errorf("%q", got)
	}
}

func TestAFindingOfAFailureHasItsSentence(t *testing.T) {
	e := measure.Fail(measure.KindUsage, "cli.ls.limit", measure.Figures{"limit": -1})
	f := measure.NewFinding(finding.BaselineFailed, measure.AtClient, measure.Figures{"error": e})
	if f.Text("error") != e.Error() || f.Cause != e {
		t.Errorf("kept as %+v", f)
	}
	e.Message = "not of the catalogue"
	const want = "the loopback baseline could not be measured: --limit -1: negative; 0 lists all"
	if got := English().Finding(f); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f = measure.NewFinding(finding.BaselineFailed, measure.AtClient, measure.Figures{"error": fs.ErrNotExist})
	if got := English().Finding(f); f.Cause != nil || got != "the loopback baseline could not be measured: file does not exist" {
		t.Errorf("%+v: %q", f, got)
	}
}

func TestATimingIsAListOfPhrases(t *testing.T) {
	for want, timing := range map[string]measure.Timing{
		"closed loop of 3 flows in turn, arrivals stamped by the kernel (SO_TIMESTAMPNS), spinning on a thread of its own": {
			Loop: measure.LoopClosed, Flows: 3, Clock: measure.ClockKernelArrival, Wait: measure.WaitSpinning, OwnThread: true},
		"program's clock, net poller": {Clock: measure.ClockProgram, Wait: measure.WaitPoller},
		"open loop, from when it was due to SYN-ACK by the program's clock around connect(2)": {
			Loop: measure.LoopOpen, Clock: measure.ClockProgram, Call: "connect(2)"},
		"hop-limited probes, raw udp socket": {Loop: measure.LoopHops, Socket: "raw udp", Wait: "of a later version"},
		"times of ping":                      {Tool: "ping"},
	} {
		if got := English().Timing(timing); got != want {
			t.Errorf("%+v: %q, want %q", timing, got, want)
		}
	}
}
