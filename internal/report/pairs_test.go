package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

func hostsNamed(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("vm-%02d", i+1))
	}
	return out
}

// slowServer is a mesh of six hosts in which vm-04 receives at two thirds of the rate of the
// others, and one pair has less than half. Run concurrently, every pair has a fifth less.
func slowServer() mesh {
	return mesh{hosts: hostsNamed(6), contention: []string{"isolated", "together"}, rounds: 6, noise: 0.01, bps: func(from, to, contention string) float64 {
		bps := 940e6
		switch {
		case from == "vm-02" && to == "vm-05":
			bps = 412e6
		case to == "vm-04":
			bps = 610e6
		}
		if contention == "together" {
			bps *= 0.8
		}
		return bps
	}}
}

// couples is nine pairs of hosts that share nothing, and have rates of their own.
func couples() mesh {
	m := mesh{contention: []string{"isolated", "together"}, rounds: 8, noise: 0.004}
	rates := map[string]float64{}
	for i := range 9 {
		p := [2]string{fmt.Sprintf("type%d-a", i+1), fmt.Sprintf("type%d-b", i+1)}
		m.hosts, m.pairs, rates[p[0]] = append(m.hosts, p[0], p[1]), append(m.pairs, p), 100e6*float64(i+1)
	}
	m.bps = func(from, _, _ string) float64 { return rates[from] }
	return m
}

func TestPairsOfHostsAreAFactorAndNotPooled(t *testing.T) {
	tcp := build(t, slowServer().input()).test(t, "tcp")
	if !slices.Equal(tcp.Factors, []string{"contention", "pair"}) || len(tcp.Rows) != 60 || tcp.Pairs.Pairs != 30 || len(tcp.Pairs.Maps) != 2 {
		t.Fatalf("factors %q, %d rows, %d pairs, %d maps", tcp.Factors, len(tcp.Rows), tcp.Pairs.Pairs, len(tcp.Pairs.Maps))
	}
	for _, r := range tcp.Rows {
		if len(r.Paths) != 1 || r.Trials != 6 || r.Levels[1].Value != r.Paths[0] {
			t.Errorf("%s has %d trials of %q", r.Pattern, r.Trials, r.Paths)
		}
	}
	if r := tcp.Rows[0]; r.Pattern != "isolated / vm-01 → vm-02" || tcp.Rows[30].Pattern != "together / vm-01 → vm-02" {
		t.Errorf("rows are not in the plan's order, then by pair: %s", r.Pattern)
	}
	if !slices.ContainsFunc(tcp.FactorEffects, func(f FactorEffect) bool { return f.Factor == "pair" && f.Matters == stats.MattersYes }) {
		t.Errorf("%+v", tcp.FactorEffects)
	}
}

func TestAPairThatALevelSetsIsNoFactorOfItsOwn(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Trial.Pair = &measure.Pair{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm-" + r.Trial.Levels[1].Value}}
	}
	if tcp := build(t, in).test(t, "tcp"); !slices.Equal(tcp.Factors, []string{"gateway SKU", "zone"}) || tcp.Pairs != nil || len(tcp.Rows) != 4 {
		t.Errorf("factors %q, pairs %+v", tcp.Factors, tcp.Pairs)
	}
}

// Interfaces are levels that set the labels of addresses: the pairs are the hosts, and the two
// factors cross.
func TestPairsWhoseLabelsALevelSetsAreThePairsOfHosts(t *testing.T) {
	labelled := func(label func(r *measure.Result) string) *Test {
		m := couples()
		m.contention = nil
		in := m.input()
		for i, r := range in.Results {
			r.Trial.Levels = []measure.Level{{Factor: "interface", Value: []string{"vlan", "vpc"}[i%2]}}
			r.Trial.Pair.Client.Label, r.Trial.Pair.Server.Label = label(r), label(r)
		}
		return build(t, in).test(t, "tcp")
	}
	tcp := labelled(func(r *measure.Result) string { return r.Trial.Levels[0].Value })
	if tcp.Pairs.Pairs != 9 || tcp.Pairs.Maps[0].Cells[0].String() != "type9-a → type9-b" {
		t.Errorf("%d pairs; the best is %v", tcp.Pairs.Pairs, tcp.Pairs.Maps[0].Cells[0])
	}
	// Where the pairs of a pattern differ in their labels, these are part of the pair.
	tcp = labelled(func(r *measure.Result) string { return r.Trial.Pair.Client.Name })
	if got := tcp.Pairs.Maps[0].Cells[0].String(); got != "type9-a.type9-a → type9-b.type9-a" {
		t.Errorf("the best is %s", got)
	}
}

func TestAFactorNamedPairKeepsItsName(t *testing.T) {
	m := slowServer()
	m.contention = nil
	in := m.input()
	for _, r := range in.Results {
		r.Trial.Levels = []measure.Level{{Factor: "pair", Value: "first"}}
	}
	tcp := build(t, in).test(t, "tcp")
	if !slices.Equal(tcp.Factors, []string{"pair", "hosts"}) || len(tcp.Rows) != 30 {
		t.Errorf("factors %q, %d rows", tcp.Factors, len(tcp.Rows))
	}
}

func TestTheAnswerAboutPairsNamesTheWorstAndTheSpread(t *testing.T) {
	for _, c := range []struct {
		name string
		m    mesh
		want string
	}{
		{"mesh", slowServer(), "contention isolated: vm-02 → vm-05 is the worst of 30 pairs of hosts: goodput 411.2 Mbit/s; the best, vm-04 → vm-02, has 942.6 Mbit/s, and half of them have 930.0 Mbit/s to 938.8 Mbit/s. The worst is shown to be worse than 29 others, by 6 rounds."},
		{"alike", mesh{hosts: hostsNamed(3), rounds: 4, noise: 0.02}, "No pair is shown to be worse than the others, in 4 rounds."},
		{"one round", mesh{hosts: hostsNamed(3), rounds: 1, noise: 0.02}, "One round, so differences are not tested."},
	} {
		tcp := build(t, c.m.input()).test(t, "tcp")
		if got := english(tcp).answer(); tcp.Answer.Code != AnswerPairs || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestAMeshIsAMapOfClientsAndServers(t *testing.T) {
	in := slowServer().input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return pairing{}.level(r).Value == "vm-01 → vm-02" })
	for _, r := range in.Results {
		if (pairing{}).level(r).Value == "vm-01 → vm-03" {
			r.Error = &measure.Error{Kind: measure.KindBroken, Message: "connection reset"}
		}
	}
	maps := english(build(t, in).test(t, "tcp")).heatMaps()
	if len(maps) != 2 || maps[0].Caption != "contention isolated" || maps[1].Caption != "contention together" {
		t.Fatalf("%+v", maps)
	}
	m := maps[0]
	if !slices.Equal(headings(m)[1:], append(hostsNamed(6), "median")) || len(m.Rows) != 7 || m.Rows[6].Cells[0].Text != "median" {
		t.Fatalf("columns %q, %d rows", headings(m), len(m.Rows))
	}
	for i, row := range m.Rows[:6] {
		if c := row.Cells[1+i]; c.Text != text.Absent || c.Shade != 0 {
			t.Errorf("%s to itself is %+v", row.Cells[0].Text, c)
		}
	}
	if c := m.Rows[0].Cells[2]; c.Text != text.Absent {
		t.Errorf("a pair that was not measured is %+v", c)
	}
	if c := m.Rows[0].Cells[3]; c.Text != "failed" || c.Shade != 0 {
		t.Errorf("a pair that failed is %+v", c)
	}
	if c := m.Rows[1].Cells[5]; !strings.HasPrefix(c.Title, "vm-02 → vm-05, contention isolated: 411.2 Mbit/s (95 % interval ") || !strings.HasSuffix(c.Title, "), 6 trials") {
		t.Errorf("%q", c.Title)
	}
	if best, worst := m.Rows[3].Cells[2], maps[1].Rows[1].Cells[5]; best.Shade != 1 || worst.Shade != outline.Shades {
		t.Errorf("the best is %+v, the worst %+v", best, worst)
	}
	if c := m.Rows[6].Cells[4]; c.Text != "607.0" || c.Shade <= m.Rows[6].Cells[1].Shade {
		t.Errorf("the median of the slow server is %+v", c)
	}
}

// Colours differ by what differs, not by noise.
func TestPairsThatAreAlikeHavePaleColours(t *testing.T) {
	for _, row := range english(build(t, mesh{hosts: hostsNamed(5), rounds: 5, noise: 0.005}.input()).test(t, "tcp")).heatMaps()[0].Rows {
		for _, c := range row.Cells {
			if c.Shade > 3 {
				t.Errorf("%s: %+v", row.Cells[0].Text, c)
			}
		}
	}
}

func TestHostsWithOnePartnerEachAreAListOfPairs(t *testing.T) {
	m := couples()
	rates := m.bps
	m.bps = func(from, to, way string) float64 { return 900e6 + rates(from, to, way) } // less than twice as much in the fastest
	in := Input{Campaign: Meta{ID: "c", Name: "c"}}
	for _, kind := range []string{"public", "vlan"} {
		part := m.input()
		for _, r := range part.Results {
			r.ID += kind
			r.Trial.Levels = append([]measure.Level{{Factor: "interface", Value: kind}}, r.Trial.Levels...)
			in.Results = append(in.Results, r)
		}
	}
	maps := english(build(t, in).test(t, "tcp")).heatMaps()
	if len(maps) != 1 || !slices.Equal(headings(maps[0])[1:], []string{"public / isolated", "public / together", "vlan / isolated", "vlan / together"}) || len(maps[0].Rows) != 9 {
		t.Fatalf("%+v", maps)
	}
	if first, last := maps[0].Rows[0], maps[0].Rows[8]; first.Cells[0].Text != "type1-a → type1-b" || first.Cells[1].Shade != outline.Shades || last.Cells[1].Shade != 1 {
		t.Errorf("first %+v, last %+v", first, last)
	}
	if maps := english(build(t, m.input()).test(t, "tcp")).heatMaps(); maps != nil {
		t.Errorf("the columns of the table of contention are there twice: %+v", maps)
	}
}

func TestPairsAreInEveryFormAndFitATerminal(t *testing.T) {
	r := build(t, slowServer().input())
	for form, want := range map[string][]string{
		"html": {"from client (rows) to server (columns)", `class="n h8"`, "What contention costs: the 20 pairs that lose most"},
		"md":   {"| vm-02 | 933.7 | – | 939.9 | 608.2 | 411.2 |", "| vm-06 → vm-05 | 940.8 | 739.2 | −21.4 % |"},
		"txt":  {"vm-02     933.7      –  939.9  608.2  411.2", "vm-06 → vm-05"},
		"csv":  {",factor_contention,factor_pair,", "isolated,vm-02 → vm-05,"},
	} {
		got := written(t, forms(r)[form])
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s has no %s", form, w)
			}
		}
	}
	for width := 40; width <= 160; width += 15 {
		for _, m := range []mesh{slowServer(), couples()} {
			r := build(t, m.input())
			for _, line := range strings.Split(written(t, func(w io.Writer) error { return r.Text(w, text.English(), width) }), "\n") {
				if n := text.Terminal.StringWidth(line); n > width {
					t.Errorf("%d columns on a terminal of %d: %s", n, width, line)
				}
			}
		}
	}
}

func TestTheJSONOfPairsIsRead(t *testing.T) {
	r := build(t, slowServer().input())
	var got Report
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &got); err != nil {
		t.Fatal(err)
	}
	p := got.test(t, "tcp").Pairs
	if len(p.Maps) != 2 || len(p.Maps[0].Cells) != 30 || p.Maps[0].Levels[0].Value != "isolated" || *p.Contention.Overall.Ratio != *r.Tests[0].Pairs.Contention.Overall.Ratio {
		t.Errorf("%+v", p)
	}
	if worst := p.Maps[0].Cells[29]; worst.From != "vm-02" || worst.To != "vm-05" || worst.RankLow != 30 || worst.RankHigh != 30 {
		t.Errorf("the last cell is %+v", worst)
	}
}

func TestAReportOfPairsDoesNotDependOnTheOrderOfResults(t *testing.T) {
	in := slowServer().input()
	first := build(t, in)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(in.Results), func(i, j int) { in.Results[i], in.Results[j] = in.Results[j], in.Results[i] })
	second := build(t, in)
	for form := range forms(first) {
		if written(t, forms(first)[form]) != written(t, forms(second)[form]) {
			t.Errorf("%s differs", form)
		}
	}
}

// 380 pairs are shown whole in maps and tables, and by the best and the worst in charts and on
// a terminal.
func TestAReportOfHundredsOfPatternsIsReadable(t *testing.T) {
	r := build(t, mesh{hosts: hostsNamed(20), rounds: 3, noise: 0.01}.input())
	if n := len(r.Tests[0].Rows); n != 380 {
		t.Fatalf("%d rows", n)
	}
	test := r.test(t, "tcp")
	var names []string
	for _, row := range english(test).rankTable().Rows {
		if !row.Minor {
			names = append(names, row.Cells[1].Text)
		}
	}
	var want []string
	for _, p := range slices.Concat(test.Ranking[:20], test.Ranking[370:]) {
		want = append(want, p.Pattern)
	}
	if !slices.Equal(names, want) {
		t.Errorf("a terminal has %q, want the best and the worst: %q", names, want)
	}
	terminal := written(t, forms(r)["txt"])
	if lines := strings.Count(terminal, "\n"); lines > 260 || !strings.Contains(terminal, "the 20 best and the 10 worst of 380 patterns") {
		t.Errorf("%d lines on a terminal", lines)
	}
	html := written(t, forms(r)["html"])
	charts, strips := strings.Count(html, `role="img"`), strings.Count(html, `class="mean `)
	if charts > 70 || strips != 2*mostPictured || len(html) > 1<<20 {
		t.Errorf("%d charts with %d strips, %d bytes", charts, strips, len(html))
	}
	for _, want := range []string{"The 20 best and the 10 worst of 380 patterns.", `<summary id="t1-figures">Figures of 380 patterns</summary>`, "Over time: 30 of 380 patterns, the best and the worst"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if rows := strings.Count(written(t, r.CSV), "\n"); rows != 381 {
		t.Errorf("%d lines of CSV", rows)
	}
}

// A mesh of 8 hosts has 1,540 pairs of levels.
func TestEffectsOfManyLevelsAreTheLargest(t *testing.T) {
	m := slowServer()
	m.hosts, m.contention, m.rounds = hostsNamed(8), nil, 2
	in := m.input()
	for _, r := range in.Results {
		r.Trial.Levels = []measure.Level{{Factor: "streams", Value: fmt.Sprint(1 + r.Trial.Order)}}
	}
	for _, r := range m.input().Results {
		r.ID += "b"
		r.Trial.Levels = []measure.Level{{Factor: "streams", Value: "16"}}
		in.Results = append(in.Results, r)
	}
	tcp := build(t, in).test(t, "tcp")
	ofPair := slices.DeleteFunc(slices.Clone(tcp.Effects), func(e LevelEffect) bool { return e.Factor != "pair" })
	if len(ofPair) != mostEffects || *ofPair[0].upward().ratio < 940.0/412*0.95 || len(tcp.Effects) != mostEffects+1 {
		t.Errorf("%d effects, the first %v", len(tcp.Effects), *ofPair[0].upward().ratio)
	}
}

// Nine pairs carry 100 to 900 Mbit/s by one way and 70 % of that by the other: the colour is that of the
// way and not that of the size of the hosts.
func TestPairsOfHostsOfOtherSizesHaveColoursOfTheirOwn(t *testing.T) {
	in := couples()
	rates := in.bps
	in.contention = []string{"direct", "gateway"}
	in.bps = func(from, to, way string) float64 {
		if way == "gateway" {
			return 0.7 * rates(from, to, way)
		}
		return rates(from, to, way)
	}
	input := in.input()
	for _, r := range input.Results {
		r.Trial.Group = nil
		r.Trial.Levels[0].Factor = "way"
	}
	for i := range input.Patterns {
		input.Patterns[i][0].Factor = "way"
	}
	maps := english(build(t, input).test(t, "tcp")).heatMaps()
	if len(maps) != 1 || len(maps[0].Rows) != 9 || maps[0].Scale.Best != "of the row" || !strings.HasPrefix(maps[0].Scale.Worst, "−30.") {
		t.Fatalf("%+v", maps)
	}
	for _, row := range maps[0].Rows {
		if direct, gateway := row.Cells[1].Shade, row.Cells[2].Shade; direct != 1 || gateway < outline.Shades-1 {
			t.Errorf("%s: shades %d and %d", row.Cells[0].Text, direct, gateway)
		}
	}
}
