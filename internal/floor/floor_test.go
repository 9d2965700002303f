package floor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/text"
	"soku/internal/trial"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brief is enough to have every figure.
var brief = lengths{50 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, 20 * time.Millisecond, 1}

// loopback runs a server until the test ends and returns its address. It is in
// this process, so that the cost of the ends is not known here.
func loopback(t *testing.T, cfg server.Config) string {
	t.Helper()
	cfg.Listen = "127.0.0.1:0"
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s.Addr().String()
}

func TestEveryModeOfThisBuildHasItsFigure(t *testing.T) {
	tier.SpendsSeconds(t)
	var steps []string
	d, err := measureFor(t.Context(), Config{
		Server: loopback(t, server.Config{}), Version: "v1", Quick: true,
		Step: func(what text.Line, number, of int) {
			steps = append(steps, fmt.Sprintf("%d/%d %s", number, of, text.English().SentenceOf(what)))
		},
	}, brief)
	if err != nil {
		t.Fatal(err)
	}
	n := len(available()) + len(sleeps)
	if len(steps) != n || !strings.HasPrefix(steps[0], fmt.Sprintf("1/%d ", n)) || !strings.HasPrefix(steps[n-1], fmt.Sprintf("%d/%d ", n, n)) {
		t.Errorf("steps %q", steps)
	}
	for _, m := range available() {
		switch m.kind {
		case roundTrips:
			i := slices.IndexFunc(d.RoundTrips, func(x measure.FloorRoundTrip) bool { return x.Mode == m.name })
			if i < 0 || d.RoundTrips[i].RTT.Count == 0 || d.RoundTrips[i].RTT.P50 <= 0 || d.RoundTrips[i].Timing == nil {
				t.Errorf("round trips of %s: %+v", m.name, d.RoundTrips)
			}
		case packets:
			i := slices.IndexFunc(d.Packets, func(x measure.FloorPackets) bool { return x.Mode == m.name })
			if i < 0 || d.Packets[i].PacketsPerSecond <= 0 || d.Packets[i].SizeBytes != 64 {
				t.Errorf("packets of %s: %+v", m.name, d.Packets)
			}
		}
	}
	if len(d.Goodput) == 0 || slices.ContainsFunc(d.Goodput, func(g measure.FloorGoodput) bool { return g.GoodputBps <= 0 }) {
		t.Fatalf("goodput %+v", d.Goodput)
	}
	if last := d.Goodput[len(d.Goodput)-1]; last.Mode != "read by the receiver" {
		t.Errorf("where there is one way it is that of the mode which names one, got %q", last.Mode)
	}
	for i, g := range d.Goodput {
		if slices.ContainsFunc(d.Goodput[:i], func(x measure.FloorGoodput) bool { return x.TXPath == g.TXPath && x.RXPath == g.RXPath }) {
			t.Errorf("one way is there twice: %+v", d.Goodput)
		}
	}
	for i, timer := range d.Timers {
		if timer.AskedNs != int64(sleeps[i]) || timer.LateNs.Count == 0 {
			t.Errorf("timer %+v", timer)
		}
	}
	if len(d.Timers) != len(sleeps) || d.TookNs <= 0 || d.Host.OS == "" || !d.Quick || d.Tool.Version != "v1" {
		t.Errorf("incomplete: %+v", d)
	}
	if why, usable := d.Usable(d.Host, "v1"); !usable {
		t.Errorf("not of this host: %s", why)
	}
}

func TestAModeThatFailsIsReportedAndTheOthersKeepTheirFigures(t *testing.T) {
	tier.SpendsSeconds(t)
	d, err := measureFor(t.Context(), Config{Server: loopback(t, server.Config{MaxDuration: measure.Duration(60 * time.Millisecond)})}, brief)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.RoundTrips) == 0 || len(d.Goodput) != 0 || len(d.Packets) != 0 {
		t.Errorf("round trips take 50 ms and are allowed, the rest is not: %+v", d)
	}
	if !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool {
		return f.Code == finding.BaselineModeFailed && f.Text("test") == "udp" && f.Text("mode") == "udp" && strings.Contains(f.Text("error"), "this server allows")
	}) {
		t.Errorf("findings %+v", d.Findings)
	}
}

func TestWithoutAServerTheFirstFailureIsReturned(t *testing.T) {
	d, err := Measure(t.Context(), Config{Server: "127.0.0.1:1", Quick: true})
	if d != nil || measure.KindOf(err) != measure.KindUnreachable {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestCancellingTheContextStopsEveryStep(t *testing.T) {
	tier.SpendsSeconds(t)
	address := loopback(t, server.Config{})
	for _, at := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		var after int
		d, err := measureFor(ctx, Config{Server: address, Step: func(_ text.Line, number, _ int) {
			if number == at {
				cancel(stop)
			}
			after = max(after, number-at)
		}}, brief)
		cancel(nil)
		if d != nil || !errors.Is(err, stop) || after != 0 {
			t.Errorf("stopped at step %d: %v, %d steps after it", at, err, after)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := run{lengths: full, doc: &Document{}, Config: Config{Step: func(text.Line, int, int) { cancel() }}}
	if err := r.timers(ctx); !errors.Is(err, context.Canceled) || r.done != 1 {
		t.Errorf("stopped at the first sleep: %v after %d", err, r.done)
	}
}

func TestAMissingCongestionControlIsNotSet(t *testing.T) {
	tier.SpendsSeconds(t)
	r := run{Config: Config{Server: loopback(t, server.Config{}), Step: func(text.Line, int, int) {}}, lengths: brief, one: trial.Run, steady: "nosuch",
		doc: &Document{Host: measure.Facts{OS: "linux", Congestion: "bbr"}}}
	m := mode{goodput, "any", measure.TestTCP, nil}
	if err := r.mode(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(r.doc.Goodput) != 1 || r.doc.Goodput[0].Congestion == "nosuch" || len(r.doc.Findings) != 0 {
		t.Errorf("%+v", r.doc)
	}
}

func TestAModeWithUnsupportedOptionsIsNotMeasured(t *testing.T) {
	for _, c := range []struct {
		set  setting
		want bool
	}{
		{setting{"protocol", "udp"}, true}, {setting{"size", "100"}, true}, {setting{"request_rate", "5"}, false},
		{setting{"no_such_option", "1"}, false}, {setting{"protocol", "pigeon"}, false}, {setting{"size", "big"}, false},
		{setting{"rx", "read"}, false}, // of another test
	} {
		if _, ok := (mode{roundTrips, "x", measure.TestLatency, []setting{c.set}}).options(); ok != c.want {
			t.Errorf("%v: measured %v, want %v", c.set, ok, c.want)
		}
	}
	for _, m := range available() {
		o, _ := m.options()
		if _, err := option.Effective(o, m.test); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestLatenessCountsOnlySleepsThatEndedInTime(t *testing.T) {
	late := lateness(t.Context(), 50*time.Microsecond, 20*time.Millisecond)
	if late.Count() == 0 || late.Count() > 400 {
		t.Errorf("%d sleeps of 50 µs in 20 ms", late.Count())
	}
	// The sleep itself is no part of its lateness.
	if late := lateness(t.Context(), 2*time.Millisecond, 60*time.Millisecond); late.Count() == 0 || late.Min() >= int64(2*time.Millisecond) {
		t.Errorf("%d sleeps of 2 ms, each %d ns late or more", late.Count(), late.Min())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n := lateness(ctx, time.Millisecond, time.Hour).Count(); n != 0 {
		t.Errorf("%d sleeps after the end", n)
	}
}

func TestEveryModeHasAMessage(t *testing.T) {
	for _, m := range modes {
		key := "floor.mode." + strings.NewReplacer(", ", "_", " ", "_").Replace(m.name)
		if !text.English().Has(key) || text.English().Mode(m.name) != text.English().Sentence(key, nil) {
			t.Errorf("%q has no message %s", m.name, key)
		}
	}
	if got := text.English().Mode("of a later version"); got != "of a later version" {
		t.Error(got)
	}
}
