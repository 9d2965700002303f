package campaign_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
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
func capped(j schedule.Job) float64 { return min(1e9, 100e6*float64(j.Options.Streams)) }

var kneeLevels = []string{"1:1", "1:2", "1:4", "1:8", "1:16", "1:32", "1:64", "2:8", "2:16", "2:32", "3:16", "3:32", "3:8", "4:32", "4:8", "4:16"}

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
		{"gain: 2%", "while: goodput >= 100 Mbit/s"}:                        "",
		{"gain: 2%", "gain: 2%, while: goodput >= 1G"}:                      "plan.yaml:4:49: find.gain: gain is for the plateau",
		{"gain: 2%", "while: loss <= 1 %"}:                                  "no test has the option streams and the figure of loss <= 1 %",
		{"gain: 2%", "while: loss <= 1 %, test: up"}:                        "cannot go by a tcp test",
		{"gain: 2%", "while: los <= 1 %"}:                                   `there is no figure "los"; did you mean loss?`,
		{"gain: 2%", "while: loss below 1 %"}:                               "is no threshold of a figure",
		{"gain: 2%", "while: loss <= many"}:                                 "many",
	} {
		_, err := plan.Parse("plan.yaml", []byte(strings.Replace(kneeStudy, change[0], change[1], 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
	p := plans.Parse(t, kneeStudy)
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
		if err := b.campaigns().Read(id, func(r journal.Record) error {
			if r.Kind == journal.RecordTrialFinished {
				finished = append(finished, fmt.Sprint(r.Trial.Round, ":", r.Trial.Pattern))
			}
			return nil
		}); err != nil || !slices.Equal(finished, kneeLevels) {
			t.Errorf("after %d records (%v): %v", n, err, finished)
		}
		b.onceEach(16)
	}
}
