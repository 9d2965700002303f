package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/text"
)

// streamsOverGateways is a campaign in which the gateway is the limit, and one stream does not
// reach it.
func streamsOverGateways() Input {
	limit := map[string]float64{"standard": 1e9, "ultra": 10e9}
	in := design{
		factors: []string{"gateway", "streams"}, levels: [][]string{{"standard", "ultra"}, {"1", "16"}}, rounds: 6, noise: 0.002,
		bps: func(l []string) float64 {
			share := map[string]float64{"1": 0.3, "16": 0.95}[l[1]]
			return limit[l[0]] * share
		},
	}.input()
	for _, r := range in.Results {
		r.Options.Streams = map[string]int{"1": 1, "16": 16}[r.Trial.Levels[1].Value]
	}
	in.Design.Limits = func(r *measure.Result) []measure.Limit {
		gateway := r.Trial.Levels[0].Value
		return []measure.Limit{{Metric: "goodput_bps", Value: limit[gateway], Of: "gateway=" + gateway, Source: "gateway page"}}
	}
	return in
}

func TestARowHasTheShareOfItsLimit(t *testing.T) {
	test := build(t, streamsOverGateways()).test(t, "tcp")
	for _, r := range test.Rows {
		l := r.Limit(metric.Goodput)
		want := *test.place(r.Pattern).Estimate / map[string]float64{"standard": 1e9, "ultra": 10e9}[r.Levels[0].Value]
		if l == nil || l.Share == nil || math.Abs(*l.Share-want) > 1e-12 || *l.Low >= want || *l.High <= want || l.Of != "gateway="+r.Levels[0].Value {
			t.Errorf("%s: %+v, want the share %v within its interval", r.Pattern, l, want)
		}
	}
}

func TestTheLargestShareOfALimitIsOfEachThingThatWasMeasured(t *testing.T) {
	test := build(t, streamsOverGateways()).test(t, "tcp")
	if len(test.Reached) != 2 {
		t.Fatalf("%d shares, want one a gateway: %+v", len(test.Reached), test.Reached)
	}
	for _, r := range test.Reached {
		if len(r.Levels) != 1 || r.Levels[0].Factor != "gateway" || len(r.With) != 1 || r.With[0] != (measure.Level{Factor: "streams", Value: "16"}) || math.Abs(*r.Share-0.95) > 0.1 {
			t.Errorf("%+v, want about 95 %% of one gateway with 16 streams", r)
		}
	}
	said := strings.Join(testView{test, text.English()}.sentences(), "\n")
	for _, want := range []string{"of the published limit is reached by each", "of 10.00 Gbit/s (gateway=ultra) with streams 16"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestOfManySharesOfALimitASentenceHasTheEndsAndATableAll(t *testing.T) {
	shares := map[string]float64{"a": 0.5, "b": 0.9, "c": 0.7}
	d := design{
		factors: []string{"gateway", "streams"}, levels: [][]string{{"a", "b", "c"}, {"1", "16"}}, rounds: 6, noise: 0.001,
		bps: func(l []string) float64 {
			if l[1] == "1" {
				return 1e8
			}
			return 1e9 * shares[l[0]]
		},
	}
	in := d.input()
	for _, r := range in.Results {
		r.Options.Streams = map[string]int{"1": 1, "16": 16}[r.Trial.Levels[1].Value]
	}
	in.Design.Limits = func(*measure.Result) []measure.Limit { return []measure.Limit{{Metric: "goodput_bps", Value: 1e9}} }
	r := build(t, in)
	v := english(r.test(t, "tcp"))
	said := v.reached()
	for _, want := range []string{"52.6 % to 94.7 % of the published limit is reached, least by a (526.1 Mbit/s of 1.000 Gbit/s, with streams 16), most by b (946.9 Mbit/s of 1.000 Gbit/s, with streams 16)."} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
	table := v.reachedTable()
	for i, want := range []string{"b 16 94.7 82.5 to 106.8 1.000 –", "c 16 73.6 64.2 to 83.0 1.000 –", "a 16 52.6 45.8 to 59.4 1.000 –"} {
		if got := strings.Join(texts(table)[i], " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for form, out := range forms(r) {
		if got := written(t, out); form != "json" && form != "csv" && !strings.Contains(got, "of patterns that differ in streams only") {
			t.Errorf("%s has no table of the shares", form)
		}
	}
}

func TestTheSmallestOfTheLimitsOfAPatternCounts(t *testing.T) {
	in := streamsOverGateways()
	in.Design.Limits = nil
	for i, r := range in.Results {
		r.Origin = &measure.Origin{Limits: []measure.Limit{{Metric: "goodput_bps", Value: 5e9 + float64(i%2)*1e9}, {Metric: "packets_per_second", Value: 1}}}
	}
	for _, r := range build(t, in).test(t, "tcp").Rows {
		if l := r.Limit(metric.Goodput); l == nil || l.Value != 5e9 && l.Value != 6e9 {
			t.Errorf("%s: %+v", r.Pattern, l)
		}
	}
	small := in.Results[0]
	small.Origin.Limits[0].Value = 1e9
	test := build(t, in).test(t, "tcp")
	for _, r := range test.Rows {
		if r.Pattern == small.Trial.Pattern && r.Limit(metric.Goodput).Value != 1e9 {
			t.Errorf("%+v, want the smallest limit of its trials", r.Limits)
		}
	}
}

func TestEveryFormHasTheShareOfTheLimit(t *testing.T) {
	r := build(t, streamsOverGateways())
	row := r.Tests[0].Rows[0]
	share := fmt.Sprintf("%.1f", *row.Limit(metric.Goodput).Share*100)
	for form, out := range map[string]string{"text": written(t, func(w io.Writer) error { return r.Text(w, text.English(), 140) }), "markdown": written(t, inEnglish(r.Markdown)), "html": written(t, inEnglish(r.HTML))} {
		if !strings.Contains(out, "% of limit") || !strings.Contains(out, share) {
			t.Errorf("%s has no %s %% of the limit", form, share)
		}
	}
	if page := written(t, inEnglish(r.HTML)); strings.Count(page, `class="limit`) < 4 || !strings.Contains(page, "published limit 1.000 Gbit/s, of gateway=standard (gateway page)") {
		t.Error("the chart has no line of the limit")
	}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(name string) string {
		for i, n := range rows[0] {
			if n == name {
				return rows[1][i]
			}
		}
		t.Fatalf("no column %s", name)
		return ""
	}
	if cell("limit") != "1000000000" || cell("limit_of") != "gateway=standard" || cell("limit_source") != "gateway page" || !strings.HasPrefix(cell("limit_share_ratio"), "0.") {
		t.Errorf("%s %s %s %s", cell("limit"), cell("limit_of"), cell("limit_source"), cell("limit_share_ratio"))
	}
}

func TestAShareOfADocumentedLimitNamesItsComponentAndTheLimitsThatAreNotReached(t *testing.T) {
	in := streamsOverGateways()
	in.Design.Limits = func(r *measure.Result) []measure.Limit {
		if r.Trial.Levels[0].Value == "standard" {
			return nil
		}
		return []measure.Limit{
			{Metric: "goodput_bps", Value: 10e9, Component: "gateway UltraPerformance", Source: "https://example.org/gateways", Date: "2026-11-26"},
			{Metric: "goodput_bps", Value: 12e9, Component: "VM DS5", Source: "https://example.org/sizes", Date: "2026-11-26"},
		}
	}
	r := build(t, in)
	test := r.test(t, "tcp")
	said := strings.Join(testView{test, text.English()}.sentences(), "\n")
	reached := test.Reached[0]
	want := fmt.Sprintf("%.3f Gbit/s with streams 16 is %s %% of the documented 10.00 Gbit/s of gateway UltraPerformance; the 12.00 Gbit/s of VM DS5 is not reached (https://example.org/gateways, read 2026-11-26).", *reached.Share*10, inPercent(*reached.Share))
	if !strings.Contains(said, want) || strings.Contains(said, "published limit") {
		t.Errorf("no %q in\n%s", want, said)
	}
	if len(reached.Above) != 1 || reached.Above[0].Value != 12e9 {
		t.Errorf("%+v", reached.Above)
	}
}
