package campaign_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// kneeStudy searches the plateau of streams.
const kneeStudy = `campaign: study
endpoints: {vm: {address: 10.0.0.4}}
to: vm
find: {option: streams, from: 1, to: 128, gain: 2%}
tests: {up: {test: tcp, duration: 1s}}
`

// capped is the goodput of streams of 100 Mbit/s each on a path of 1 Gbit/s.
func capped(j campaign.Job) float64 { return min(1e9, 100e6*float64(j.Options.Streams)) }

// levelsRun are the trials that the runner got, as round:level.
func (b *bench) levelsRun() []string {
	var out []string
	for _, e := range b.events {
		if e.Kind == campaign.EventTrial {
			l := e.Job.Trial.Levels
			out = append(out, fmt.Sprint(e.Job.Trial.Round, ":", l[len(l)-1].Value))
		}
	}
	return out
}

var kneeLevels = []string{"1:1", "1:2", "1:4", "1:8", "1:16", "1:32", "1:64", "2:8", "2:16", "2:32", "3:16", "3:32", "3:8", "4:32", "4:8", "4:16"}

func TestASearchVisitsLevelsUntilTheyGainNothingAndThoseAroundTheBestAgain(t *testing.T) {
	b := newBench(t, kneeStudy)
	b.goodput = capped
	b.create()
	if e := b.plan.Estimate(nil); e.Trials != 8+9 || e.FewestTrials != 3+6 {
		t.Errorf("estimate of %d to %d trials, want 9 to 17", e.FewestTrials, e.Trials)
	} else if e.Time != 17*1300*time.Millisecond {
		t.Errorf("17 trials of 1 s, 1.3 s with what is around them, take %s", e.Time)
	}
	out, err := b.run()
	if err != nil {
		t.Fatal(err)
	}
	// 16 streams fill the path; 32 and 64 gain nothing.
	want := slices.Clone(kneeLevels)
	if got := b.levelsRun(); !slices.Equal(got, want) {
		t.Errorf("ran %v\nwant %v", got, want)
	}
	if out != (campaign.Outcome{Total: 16, Done: 16, Ran: 16}) {
		t.Errorf("outcome %+v", out)
	}
	for _, r := range b.results() {
		l := r.Trial.Levels[0]
		if l.Factor != "streams" || l.Value != strconv.Itoa(r.Options.Streams) || r.Trial.Pattern != l.Value {
			t.Errorf("trial %+v with %d streams", r.Trial, r.Options.Streams)
		}
	}
	// One trial less than it could have needed: the campaign is complete.
	infos, err := campaign.Find(b.campaigns(), "study")
	if err != nil || infos[0].Open() || infos[0].Trials != 16 {
		t.Errorf("the campaign is %+v (%v)", infos, err)
	}
	b.resume()
	if out, err = b.run(); err != nil || out.Ran != 0 || out.Total != 16 || out.Left != 0 {
		t.Errorf("again: %+v, error %v", out, err)
	}
}

func TestASearchThatIsInterruptedGoesOnWhereItWas(t *testing.T) {
	for stop := 1; stop < 16; stop++ {
		b := newBench(t, kneeStudy)
		b.goodput = capped
		b.create()
		b.plan.Budget.Bytes = measure.Size(int64(stop) * b.bytes)
		out, err := b.run()
		if measure.KindOf(err) != measure.KindRefused || out.Done != stop {
			t.Fatalf("stop after %d: %+v, error %v", stop, out, err)
		}
		first := b.levelsRun()[:stop]
		if infos, err := campaign.Find(b.campaigns(), "study"); err != nil || !infos[0].Open() {
			t.Errorf("stop after %d: %+v (%v)", stop, infos, err)
		}
		b.plan.Budget.Bytes = 0
		b.resume()
		if out, err = b.run(); err != nil || out.Done != 16 || out.Total != 16 {
			t.Fatalf("resumed after %d: %+v, error %v", stop, out, err)
		}
		if got := append(first, b.levelsRun()...); !slices.Equal(got, kneeLevels) {
			t.Errorf("stop after %d: ran %v\nwant %v", stop, got, kneeLevels)
		}
		b.onceEach(16)
	}
}

func TestTheSearchRunsForEachCombinationOfTheOtherFactors(t *testing.T) {
	b := newBench(t, kneeStudy+"factors: {sku: [{name: small, options: {dscp: 8}}, large]}\nrounds: 2\n")
	b.goodput = func(j campaign.Job) float64 { // small is full at 2 streams
		if j.Trial.Levels[0].Value == "small" {
			return min(capped(j), 200e6)
		}
		return capped(j)
	}
	b.create()
	b.exec.Only = selection("sku", "small")
	out, err := b.run()
	if err != nil || out.Done != 4+3 || out.Total != 7 || out.Left != 8+3 { // large can need that many
		t.Fatalf("%+v, error %v, ran %v", out, err, b.levelsRun())
	}
	b.exec.Only = nil
	b.resume()
	if out, err = b.run(); err != nil || out.Done != 4+3+7+3 || out.Total != out.Done || out.Left != 0 {
		t.Fatalf("%+v, error %v, ran %v", out, err, b.levelsRun())
	}
	// Together both take turns, and each finds the same.
	both := newBench(t, kneeStudy+"factors: {sku: [{name: small, options: {dscp: 8}}, large]}\nrounds: 2\n")
	both.goodput = b.goodput
	both.create()
	known := 0
	for range both.campaign.Blocks() {
		known++
	}
	if known != 2 {
		t.Errorf("%d blocks are known before anything is measured, want the first of each search", known)
	}
	if out, err = both.run(); err != nil || out.Done != 17 {
		t.Fatalf("%+v, error %v, ran %v", out, err, both.ran)
	}
	sorted := func(rs []*measure.Result) (keys []string) {
		for _, r := range rs {
			keys = append(keys, fmt.Sprint(r.Trial.Pattern, " ", r.Trial.Round))
		}
		slices.Sort(keys)
		return keys
	}
	if got, want := sorted(both.results()), sorted(b.results()); !slices.Equal(got, want) {
		t.Errorf("together %v\nwant %v", got, want)
	}
	small, leads := 0, 0
	for i, r := range both.results()[:8] {
		if r.Trial.Levels[0].Value == "small" {
			small++
			leads += (i + 1) % 2
		}
	}
	if small != 4 || leads == 0 || leads == 4 {
		t.Errorf("%d of the first 8 trials are of one search, which leads %d times: they do not take turns in random order", small, leads)
	}
}

func TestAPersonMakesEachChangeOfSearchesOnceARound(t *testing.T) {
	b := newBench(t, kneeStudy+"factors: {cable: {by: hand, levels: [old, new]}, sku: [{name: small, options: {dscp: 8}}, large]}\nrounds: 3\n")
	b.goodput = capped
	b.create()
	changes := 0
	b.exec.Confirm = func(context.Context, []measure.Level) (campaign.Confirmed, error) {
		changes++
		return campaign.Confirmed{How: campaign.ConfirmedAtTerminal}, nil
	}
	if out, err := b.run(); err != nil || out.Done != 4*(7+2*3) {
		t.Fatalf("%+v, error %v", out, err)
	}
	// Two in the first round, and one in each other that goes on with the last cable.
	if changes < 4 || changes > 6 {
		t.Errorf("%d changes in 3 rounds of 2 cables", changes)
	}
}

func TestMoreRoundsOfASearchMeasureThePlateauMoreOften(t *testing.T) {
	b := newBench(t, kneeStudy)
	b.goodput = capped
	b.create()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	b.plan = parse(t, kneeStudy+"rounds: 5\n")
	b.resume()
	if err := b.campaign.RaiseRounds(b.campaign.StartedAt); err != nil {
		t.Fatal(err)
	}
	out, err := b.run()
	if got := b.levelsRun(); err != nil || out.Done != 19 || out.Total != 19 || !slices.Equal(got, []string{"5:8", "5:16", "5:32"}) {
		t.Errorf("%+v, error %v, ran %v", out, err, got)
	}
}

func TestFailedTrialsOfASearchAreRepeatedOnRequest(t *testing.T) {
	b := newBench(t, kneeStudy+"abort_after: 0\n")
	b.goodput = capped
	b.fail = func(j campaign.Job) error {
		if j.Options.Streams >= 4 {
			return measure.Fail(measure.KindBroken, "campaign.empty_shell", nil)
		}
		return nil
	}
	b.create()
	out, err := b.run() // 1, 2, 4, 8: two in a row gain nothing; then 1, 2, 4
	if measure.KindOf(err) != measure.KindIncomplete || out.Done != 4+9 || out.Failed != 2+3 {
		t.Fatalf("%+v, error %v, ran %v", out, err, b.levelsRun())
	}
	b.fail = nil
	b.exec.RetryFailed = true
	b.resume()
	if out, err = b.run(); err != nil || out.Failed != 0 {
		t.Fatalf("%+v, error %v, ran %v", out, err, b.levelsRun())
	}
	got := b.levelsRun()
	for _, trial := range []string{"1:4", "1:8", "1:64", "4:16"} {
		if !slices.Contains(got, trial) {
			t.Errorf("ran %v, not %s", got, trial)
		}
	}
	if infos, err := campaign.Find(b.campaigns(), "study"); err != nil || infos[0].Open() || out.Left != 0 {
		t.Errorf("%+v (%v), %+v", infos, err, out)
	}
}

func TestASearchWhoseTrialsAllFailEnds(t *testing.T) {
	b := newBench(t, kneeStudy+"abort_after: 0\n")
	b.fail = func(campaign.Job) error { return measure.Fail(measure.KindBroken, "campaign.empty_shell", nil) }
	b.create()
	if out, err := b.run(); measure.KindOf(err) != measure.KindIncomplete || out.Total != 2 || out.Failed != 2 || out.Left != 0 {
		t.Errorf("%+v, error %v", out, err)
	}
}

func TestTheFigureOfTheNamedTestDecides(t *testing.T) {
	tests := "tests: {rtt: {test: ping, count: 10}, down: {test: tcp, duration: 2s}, up: {test: tcp, duration: 1s}}\nrepeats: 2\n"
	for name, levels := range map[string]int{"": 3, "test: down": 3, "test: up": 7} {
		text := strings.Replace(kneeStudy, "tests: {up: {test: tcp, duration: 1s}}\n", tests, 1)
		b := newBench(t, strings.Replace(text, "gain: 2%", strings.TrimPrefix("gain: 2%, "+name, ", "), 1)+"rounds: 1\n")
		b.goodput = func(j campaign.Job) float64 {
			if j.Trial.Label == "down" {
				return 1e9
			}
			return capped(j)
		}
		b.create()
		if out, err := b.run(); err != nil || out.Done != levels*6 {
			t.Errorf("%q: %+v, error %v", name, out, err)
		}
	}
}

// A test that the search does not decide by may need few trials.
func TestTestsBesideTheOneThatDecidesMayHaveFewerRounds(t *testing.T) {
	text := strings.Replace(kneeStudy, "{up:", "{rtt: {test: latency, rounds: 2, repeats: 2}, up:", 1)
	b := newBench(t, text)
	b.goodput = capped
	b.create()
	// 3 to 8 levels with 3 trials in round 1, and 2 to 3 with 3 trials in one round and 1 in two.
	if e := b.plan.Estimate(nil); e.FewestTrials != 3*3+2*(3+1+1) || e.Trials != 8*3+3*(3+1+1) {
		t.Errorf("estimate of %d to %d trials, want 19 to 39", e.FewestTrials, e.Trials)
	}
	out, err := b.run()
	if want := 7*3 + 3*(3+1+1); err != nil || out.Done != want || out.Total != want || out.Left != 0 {
		t.Fatalf("%+v, error %v, want %d trials", out, err, want)
	}
	rounds := map[string]map[int]int{"up": {}, "rtt": {}}
	for _, r := range b.results() {
		rounds[r.Trial.Label][r.Trial.Round]++
	}
	if want := (map[int]int{1: 14, 2: 6}); !maps.Equal(rounds["rtt"], want) {
		t.Errorf("rtt has %v trials by round, want %v", rounds["rtt"], want)
	}
	if want := (map[int]int{1: 7, 2: 3, 3: 3, 4: 3}); !maps.Equal(rounds["up"], want) {
		t.Errorf("up has %v trials by round, want %v", rounds["up"], want)
	}
	// Before each round the trials that may follow are counted.
	if first := b.events[0]; first.Total != 39 {
		t.Errorf("%d trials in all before the first, want at most 39", first.Total)
	}
	for i, e := range b.events {
		if e.Kind == campaign.EventResult && e.Total < out.Done {
			t.Fatalf("event %d: %d trials in all, and the campaign had %d", i, e.Total, out.Done)
		}
	}
	// Rounds that are added have all tests.
	b.resume()
	if err := b.campaign.AddRounds(1, b.campaign.StartedAt); err != nil {
		t.Fatal(err)
	}
	if out, err = b.run(); err != nil || out.Ran != 3*3 || out.Left != 0 {
		t.Errorf("%+v, error %v, want 9 trials more", out, err)
	}
}

func TestMistakesInFind(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"option: streams, ", ""}:                                           "nothing says which option is searched",
		{"option: streams", "option: stream"}:                               "streams",
		{"from: 1, ", ""}:                                                   "find",
		{"to: 128", "to: 1000000"}:                                          "plan.yaml:4:38: find.to",
		{"find:", "factors: {streams: [1, 2]}\nfind:"}:                      "is a factor of the plan, too",
		{"find:", "until: {interval: 2%}\nfind:"}:                           "a search has its own end",
		{"find:", "only: {streams: 1}\nfind:"}:                              "a selection cannot choose them",
		{"duration: 1s", "duration: 1s, rounds: 2"}:                         "",
		{"{up:", "{rtt: {test: latency, rounds: 2}, up:"}:                   "",
		{"{up:", "{rtt: {test: latency, rounds: 5}, up:"}:                   "plan.yaml:5:42: tests.up: the search goes by \"up\", which has 4 rounds, and another test has 5",
		{"duration: 1s}", "duration: 1s, rounds: 3}, rtt: {test: latency}"}: "plan.yaml:5:47: tests.up.rounds: the search goes by \"up\", which has 3 rounds, and another test has 4",
		{"gain: 2%", "gain: 2%, test: down"}:                                "no test has the label \"down\"",
		{"test: tcp, duration: 1s", "test: ping"}:                           "streams",
		{"{up:", "{rtt: {test: latency}, up:"}:                              "",
		{"gain: 2%}", "gain: 2%, test: rtt}\n#"}:                            "no test has the label",
		{"from: 1", "from: 1, scale: linear"}:                               "step",
		{"option: streams, from: 1", "option: congestion, from: 1"}:         "congestion",
	} {
		_, err := campaign.Parse("plan.yaml", []byte(strings.Replace(kneeStudy, change[0], change[1], 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
	p := parse(t, kneeStudy)
	if err := p.CheckSelection(selection("streams", "4")); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("--only of the searched levels: %v", err)
	}
}

// A kill leaves a journal that ends with any record, and with a part of the next one.
func TestASearchGoesOnAfterAKillAtAnyRecord(t *testing.T) {
	whole := newBench(t, kneeStudy)
	whole.goodput = capped
	whole.create()
	if _, err := whole.run(); err != nil {
		t.Fatal(err)
	}
	id := whole.campaign.ID()
	text, err := os.ReadFile(whole.campaign.JournalName())
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for n := 1; end < len(text); n++ {
		end += bytes.IndexByte(text[end:], '\n') + 1
		b := newBench(t, kneeStudy)
		b.goodput = capped
		dir := filepath.Join(b.dir, "campaigns", id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), text[:min(end+20, len(text))], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := campaign.Resume(b.campaigns(), id, b.plan)
		if err != nil {
			t.Fatalf("after %d records: %v", n, err)
		}
		b.hold(c)
		if out, err := b.run(); err != nil || out.Done != 16 || out.Left != 0 {
			t.Fatalf("after %d records: %+v, error %v", n, out, err)
		}
		var finished []string
		if err := b.campaigns().Read(id, func(r campaign.Record) error {
			if r.Kind == campaign.RecordTrialFinished {
				finished = append(finished, fmt.Sprint(r.Trial.Round, ":", r.Trial.Pattern))
			}
			return nil
		}); err != nil || !slices.Equal(finished, kneeLevels) {
			t.Errorf("after %d records (%v): %v", n, err, finished)
		}
		b.onceEach(16)
	}
}
