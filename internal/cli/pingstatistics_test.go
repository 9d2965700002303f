package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

// shape has a 9 for every figure, so that texts with other figures are alike.
func shape(text string) string {
	return regexp.MustCompile(`[0-9]+`).ReplaceAllString(text, "9")
}

// tail is what a ping ends with, from its line of dashes on.
func tail(t *testing.T, out string) string {
	t.Helper()
	i := strings.Index(out, "\n--- ")
	if i < 0 {
		t.Fatalf("no statistics in %q", out)
	}
	return out[i:]
}

func TestPingEndsAsThePingOfTheSystemDoes(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	theirs, err := exec.LookPath("ping")
	if err != nil {
		t.Skip("there is no ping on this machine to compare with")
	}
	for name, args := range map[string][]string{
		"answered": {"-c", "3", "-i", "0.2", "127.0.0.1"}, "IPv6": {"-c", "2", "-i", "0.2", "::1"},
	} {
		cmd := exec.CommandContext(t.Context(), theirs, args...)
		cmd.WaitDelay = 10 * time.Second
		want, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(want), "rtt min/avg/max/mdev") {
			t.Skipf("the ping of this machine is not that of iputils, or does not run: %v %s", err, want)
		}
		got, errs, code := soku(t, "ping", "--no-save", "-c", args[1], "--spacing", "200ms", args[4])
		if code == exitStatus[measure.KindPermission] {
			t.Skip("this user may not ping: " + errs)
		}
		if shape(tail(t, got)) != shape(tail(t, string(want))) {
			t.Errorf("%s: got %q, want the shape of %q", name, tail(t, got), tail(t, string(want)))
		}
	}
}

func TestPingStatisticsAreThoseOfTheResult(t *testing.T) {
	r := &measure.Result{Test: measure.TestPing, Path: measure.Path{Server: measure.Endpoint{Name: "vm2\x1b"}},
		Latency: &measure.Latency{Sent: 1000, Received: 997, Duplicated: 2, DeviationNs: 1_234_567, SpanNs: 99_900_000_000},
		Summary: measure.Summary{RTT: &measure.Percentiles{Min: 100_000, Mean: 2_500_000, Max: 1_000_000_400}}}
	var b strings.Builder
	printPingStatistics(&b, r)
	want := "\n--- vm2\uFFFD ping statistics ---\n" +
		"1000 packets transmitted, 997 received, +2 duplicates, 0.3% packet loss, time 99900ms\n" +
		"rtt min/avg/max/mdev = 0.100/2.500/1000.000/1.235 ms\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	r.Latency.Received, r.Latency.Duplicated, r.Summary.RTT = 0, 0, nil
	printPingStatistics(&b, r)
	if want := "\n--- vm2\uFFFD ping statistics ---\n1000 packets transmitted, 0 received, 100% packet loss, time 99900ms\n"; b.String() != want {
		t.Errorf("without replies: got %q, want %q", b.String(), want)
	}
	b.Reset()
	r.Test = measure.TestLatency
	if printPingStatistics(&b, r); b.Len() != 0 {
		t.Errorf("for another test: %q", b.String())
	}
}
