package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
	"soku/internal/store/memory"
)

func openStore(t *testing.T) store.Store {
	t.Helper()
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// take ingests texts as files into a campaign and returns what it then holds.
func take(t *testing.T, st store.Store, q *Request, dry bool, texts ...string) (added int, results []*measure.Result) {
	t.Helper()
	ctx := context.Background()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	in, err := Open(ctx, st, q, dry)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		s, err := NewSource("f", []byte(text), fileTime)
		if err != nil {
			t.Fatal(err)
		}
		found, err := q.Read(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			_, ok, err := in.Add(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				added++
			}
		}
	}
	if err := in.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for r, err := range st.Results(ctx, store.Query{Campaign: in.Campaign.ID}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	slices.SortStableFunc(results, func(a, b *measure.Result) int {
		return cmp.Or(cmp.Compare(a.Trial.Round, b.Trial.Round), cmp.Compare(a.Trial.Order, b.Trial.Order), cmp.Compare(a.Trial.Repeat, b.Trial.Repeat))
	})
	return added, results
}

func request(level string) *Request {
	return &Request{Campaign: "x", Format: Auto, Version: "test", Now: fileTime, Levels: []measure.Level{{Factor: "sku", Value: level}}}
}

func TestRepeatsBecomeRoundsAndContinueLater(t *testing.T) {
	st := openStore(t)
	a, b := text(t, "iperf3-3.12-tcp.json"), text(t, "iperf3-3.12-get-server-output.json")
	take(t, st, request("A"), false, a)
	take(t, st, request("B"), false, text(t, "iperf3-3.21-bytes.json"))
	_, results := take(t, st, request("A"), false, b)
	rounds := map[string][]int{}
	for _, r := range results {
		rounds[r.Trial.Pattern] = append(rounds[r.Trial.Pattern], r.Trial.Round)
		if r.Trial.Order < 1 || r.Trial.Repeat != 1 {
			t.Errorf("order %d, repeat %d", r.Trial.Order, r.Trial.Repeat)
		}
	}
	if len(results) != 3 || len(rounds["A"]) != 2 || rounds["A"][0] != 1 || rounds["A"][1] != 2 || rounds["B"][0] != 1 {
		t.Errorf("%v", rounds)
	}
	c, err := store.FindNamedCampaign(context.Background(), st, "x")
	if err != nil || c.Done != 3 || c.Trials != 3 || c.Patterns != 2 || c.Failed != 0 || c.FinishedAt.IsZero() {
		t.Errorf("%+v %v", c, err)
	}
}

func TestAFileIsIngestedOnce(t *testing.T) {
	st := openStore(t)
	file := text(t, "iperf3-3.12-server.json")
	first, results := take(t, st, request("A"), false, file, file)
	again, after := take(t, st, request("A"), false, file)
	if first != 6 || again != 0 || len(results) != 6 || len(after) != 6 {
		t.Errorf("%d went in, then %d; %d and %d results", first, again, len(results), len(after))
	}
	other := request("A")
	other.Campaign = "y"
	if n, results := take(t, st, other, false, file); n != 6 || len(results) != 6 {
		t.Errorf("%d of 6 went into another campaign, %d are there", n, len(results))
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	st := openStore(t)
	if n, results := take(t, st, request("A"), true, text(t, "iperf3-3.12-tcp.json")); n != 1 || len(results) != 0 {
		t.Errorf("%d would go in, %d are there", n, len(results))
	}
	if all, err := st.Campaigns(context.Background(), store.CampaignQuery{}); err != nil || len(all.Items) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

func TestTheEndsOfARangeAreNotPaired(t *testing.T) {
	m, err := ParseMapping("m.yaml", []byte("results: [{test: latency, figures: {mean: {low: l, high: h, unit: ms}}}]"))
	if err != nil {
		t.Fatal(err)
	}
	q := &Request{Campaign: "x", Format: Auto, Mapping: m, Now: fileTime}
	_, results := take(t, openStore(t), q, false, "l,h\n1,2\n3,4\n")
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		repeat := map[string]int{"low": 1, "high": 2}[r.Origin.Part]
		if r.Trial.Repeat != repeat || !isMissing(r, finding.OnlyRange) {
			t.Errorf("%s: repeat %d, missing %q", r.Origin.Part, r.Trial.Repeat, r.Origin.Missing)
		}
	}
	rounds := []int{results[0].Trial.Round, results[1].Trial.Round, results[2].Trial.Round, results[3].Trial.Round}
	if rounds[0] != 1 || rounds[1] != 1 || rounds[2] != 2 || rounds[3] != 2 {
		t.Errorf("rounds %v", rounds)
	}
}

func TestACampaignThatSokuMeasuredIsRefused(t *testing.T) {
	st := openStore(t)
	if err := st.PutCampaign(context.Background(), store.Campaign{ID: "20260101-x", Name: "x", StartedAt: fileTime, Plan: "campaign: x\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), st, request("A"), false); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("%v", err)
	}
	q := request("A")
	q.Campaign = "2026" // an abbreviated identity is not a name
	in, err := Open(context.Background(), st, q, false)
	if err != nil || in.Campaign.ID == "20260101-x" {
		t.Errorf("%v %+v", err, in)
	}
}

func TestPathsGiveFactorsAndRounds(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		levels        string
		round         int
		ok            bool
	}{
		{"{sku}/{zone}/run{repeat}.json", "out/VpnGw1/2/run3.json", "sku=VpnGw1 zone=2 ", 3, true},
		{"{sku}/{zone}/run{repeat}.json", `out\VpnGw1\2\run03.json`, "sku=VpnGw1 zone=2 ", 3, true},
		{"{sku}/*/run.json", "a/b/run.json", "sku=a ", 0, true},
		{"{sku}-{zone}.json", "x/a-b-c.json", "sku=a zone=b-c ", 0, true},
		{"{sku}/run{repeat}.json", "run3.json", "", 0, false},
		{"{sku}/run{repeat}.json", "a/run0.json", "", 0, false},
		{"{sku}/run{repeat}.json", "a/runx.json", "", 0, false},
		{"{a.b}/(x)", "q/(x)", "a.b=q ", 0, true},
	} {
		p, err := ParsePathPattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		levels, round, ok := p.Match(c.path)
		text := ""
		for _, l := range levels {
			text += l.Factor + "=" + l.Value + " "
		}
		if text != c.levels || round != c.round || ok != c.ok {
			t.Errorf("%s of %s: %q, round %d, %v", c.pattern, c.path, text, round, ok)
		}
	}
	for _, bad := range []string{"", "run.json", "{", "}", "{}", "{a}/{a}", "{a/b}"} {
		if _, err := ParsePathPattern(bad); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCellsAreReadInTheirUnits(t *testing.T) {
	for _, c := range []struct {
		figure, unit, text string
		want               float64
		ok                 bool
	}{
		{"goodput", "Gbit/s", "4.02", 4.02e9, true}, {"goodput", "MB/s", "221", 1768e6, true}, {"goodput", "MiB/s", "1", 8388608, true},
		{"mean", "ms", "0.233", 233000, true}, {"duration", "m:s", "4:25", 265e9, true}, {"duration", "m:s", "1:04:25", 3865e9, true},
		{"duration", "m:s", "4:61", 0, false}, {"duration", "m:s", "4", 0, false}, {"loss", "%", "5 %", 0.05, true}, {"loss", "ratio", "1.5", 0, false},
		{"bytes", "GB", "9.76", 9.76e9, true}, {"mean", "ms", "-1", 0, false}, {"mean", "ms", "NaN", 0, false}, {"mean", "ms", "0x10", 0, false}, {"goodput", "Tbit/s", "1e10", 0, false},
	} {
		f, _ := figureOf(c.figure)
		u, ok := f.unit(c.unit)
		if !ok {
			t.Fatalf("%s has no unit %s", c.figure, c.unit)
		}
		v, ok := f.read(c.text, u)
		if ok != c.ok || ok && v != c.want {
			t.Errorf("%s %q in %s: %v %v, want %v", c.figure, c.text, c.unit, v, ok, c.want)
		}
	}
}

func TestAnInvalidMappingNamesLineAndColumn(t *testing.T) {
	for text, want := range map[string]string{
		"campain: x":           "m.yaml:1:1: ",
		"results: [{test: x}]": `unknown test "x"`,
		"results:\n  - test: tcp\n    figures: {goodput: {column: a, unit: ms}}":                                       "m.yaml:3:",
		"results:\n  - test: tcp\n    figures: {mean: {column: a, unit: ms}}":                                          "figure mean is not one of the tcp test",
		"results:\n  - test: tcp\n    figures: {goodput: {column: a, value: b, unit: bit/s}}":                          "give it a column, a value, or low and high",
		"results:\n  - test: tcp\n    figures: {goodput: {low: a, unit: bit/s}}":                                       "a range has low and high",
		"results:\n  - test: ping\n    figures: {mean: {low: a, high: b, unit: ms}, max: {low: a, high: b, unit: ms}}": "two ranges in one result",
		"results:\n  - test: tcp\n    options: {size: {value: 1}}\n    figures: {goodput: {column: a, unit: bit/s}}":   `"size" is not an option of the tcp test`,
		"factors: {a: {low: x, high: y}}": "only a figure can be a range",
		"path: '{a'":                      "m.yaml:1:",
		"started: yesterday":              "is not a day",
		"- a":                             "m.yaml:1:",
	} {
		if _, err := ParseMapping("m.yaml", []byte(text)); err == nil || measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
