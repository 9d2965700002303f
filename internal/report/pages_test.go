package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

// testPage is a report that all checks of pages in a browser look at.
type testPage struct {
	name  string
	input func() Input
	large bool // looked at in fewer widths
	long  bool // its names are longer than a line
}

// widths are those in which a page is looked at.
func (p testPage) widths(all ...int64) []int64 {
	if p.large {
		return []int64{360, 1200}
	}
	return all
}

// testPages are the reports that differ in what a page has to show.
func testPages() []testPage {
	return []testPage{
		{name: "plain", input: func() Input { return fourPatterns().input() }},
		{name: "Japanese names and a failure", input: campaignWithFailure},
		{name: "names of 300 characters", input: longNames, long: true},
		{name: "failures", input: func() Input {
			in := fourPatterns().input()
			for i, r := range in.Results {
				if i%3 > 0 || r.Trial.Levels[1].Value == "1" {
					failed(r)
				}
			}
			return in
		}},
		{name: "map of pairs", input: func() Input {
			m := slowServer()
			m.hosts, m.rounds, m.contention = hostsNamed(12), 2, nil
			return m.input()
		}, large: true},
		{name: "pairs", input: func() Input { return couples().input() }},
		{name: "curve with a limit", input: func() Input { return limited(streamSweep("1").input()) }},
		{name: "curves with limits", input: func() Input { return limited(streamSweep("1", "2", "3").input()) }},
		{name: "load", input: func() Input { return loaded(campaignWithFailure(), 64, 0.5) }},
		{name: "72 patterns", input: func() Input {
			s := synthetic{rounds: 15, seconds: 1}
			for i := range 72 {
				s.patterns = append(s.patterns, syntheticPattern{fmt.Sprintf("VpnGw%d", 1+i/12), fmt.Sprintf("zone-%d", i%12), float64(100e6 + 10e6*i), time.Duration(1+i) * time.Millisecond})
			}
			return s.input()
		}, large: true},
		{name: "400 patterns", input: func() Input {
			d := design{factors: []string{"instance type", "region"}, levels: make([][]string, 2), rounds: 25, noise: 0.01, bps: func(l []string) float64 { return 1e8 * float64(1+len(l[0])) }}
			for i := range 20 {
				d.levels[0] = append(d.levels[0], fmt.Sprintf("type-%d", i+1))
				d.levels[1] = append(d.levels[1], fmt.Sprintf("region-%d", i+1))
			}
			return d.input()
		}, large: true},
	}
}

// limited has a documented limit that curves draw.
func limited(in Input) Input {
	in.Design.Limits = func(*measure.Result) []measure.Limit { return []measure.Limit{{Metric: "goodput_bps", Value: 12e8}} }
	return in
}

// longNames has names of 300 characters, of which some cannot be broken between words.
func longNames() Input {
	in := loaded(fourPatterns().input(), 4, 0.2)
	long := func(s string, word string) string { return s + " " + strings.Repeat(word, 300)[:300-len(s)] }
	for _, r := range in.Results {
		for i := range r.Trial.Levels {
			r.Trial.Levels[i].Value = long(r.Trial.Levels[i].Value, []string{"W", "word "}[i%2])
			r.Trial.Levels[i].Factor = long(r.Trial.Levels[i].Factor, "f")
		}
		r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
		r.Path.Client.Name, r.Hosts.Client.Facts.Hostname = long("client", "h"), long("client", "h")
	}
	in.Campaign.Title = long("title", "t")
	return in
}

// pageFile writes a page into a folder of the test.
func pageFile(t *testing.T, in Input) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, in).HTML))), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
