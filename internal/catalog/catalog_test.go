package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/catalog"
	"soku/internal/measure"
)

func TestEveryBuiltinLimitHasAnAddressAndTheDayItWasRead(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range catalog.Builtin().Search("") {
		if key := strings.ToLower(c.ID); ids[key] || len(c.Limits) == 0 || c.Name == "" {
			t.Errorf("%+v: twice, without a name or without limits", c)
		} else {
			ids[key] = true
		}
		for _, l := range c.Limits {
			_, err := time.Parse(time.DateOnly, l.Date)
			if !strings.HasPrefix(l.Source, "https://") || err != nil || l.Value <= 0 || l.Unit == "" || !slices.Contains(catalog.Figures(), l.Figure) {
				t.Errorf("%s: %+v", c.ID, l)
			}
		}
	}
	if len(ids) < 200 {
		t.Errorf("%d components", len(ids))
	}
}

// TestTheLimitsOfTheStudiesAreThoseThatTheyNamed compares with the figures of shared studies,
// which other people read from the same pages.
func TestTheLimitsOfTheStudiesAreThoseThatTheyNamed(t *testing.T) {
	for id, want := range map[string]float64{
		"azure/Standard_DS5_v2": 12e9, "azure/gateway/Standard": 1e9, "azure/gateway/UltraPerformance": 10e9,
		"azure/circuit/100Mbps": 100e6, "azure/gateway/VpnGw1": 650e6, "azure/gateway/VpnGw3": 1.25e9,
		"azure/disk/S10": 500, "azure/disk/P15": 1100, "akamai/g7-premium-2": 4e9, "akamai/g7-premium-64": 12e9,
	} {
		c, err := catalog.Builtin().Find(id)
		if err != nil || c.Limits[0].Value != want {
			t.Errorf("%s: %+v, %v, want %v", id, c, err, want)
		}
	}
}

// Figures of burstable and memory families, as their pages have them, the largest of each.
func TestTheLimitsOfBurstableAndMemoryFamiliesAreDocumented(t *testing.T) {
	for id, want := range map[string][]float64{ // sustained and burst
		"aws/t3.micro": {0.064e9, 5e9}, "aws/t4g.2xlarge": {2.048e9, 5e9}, "aws/r5.large": {0.75e9, 10e9}, "aws/r5.24xlarge": {25e9}, "aws/r6i.32xlarge": {50e9},
		"aws/x2gd.medium": {0.5e9, 10e9}, "aws/m7i-flex.8xlarge": {6.25e9, 12.5e9}, "aws/m7i-flex.12xlarge": {9.375e9, 18.75e9}, "aws/m7i-flex.16xlarge": {12.5e9, 25e9}, "azure/Standard_B2ts_v2": {6.25e9}, "azure/Standard_B32als_v2": {6.25e9}, "azure/Standard_B16pls_v2": {6.25e9},
		"azure/Standard_D96as_v4": {40e9}, "azure/Standard_D64as_v6": {36e9}, "azure/Standard_D64ps_v5": {40e9}, "azure/Standard_D96ps_v6": {60e9}, "gcp/e2-medium": {2e9}, "gcp/e2-highcpu-32": {16e9},
	} {
		c, err := catalog.Builtin().Find(id)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []float64
		for _, l := range c.Limits {
			if (l.Duration == catalog.Burst) != (len(got) == 1) || l.Figure != "goodput" {
				t.Errorf("%s: %+v", id, l)
			}
			got = append(got, l.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
	for _, id := range []string{"aws/t2.micro", "azure/Standard_B2ms"} { // their pages have no figures
		if c, err := catalog.Builtin().Find(id); err == nil {
			t.Errorf("%+v", c)
		}
	}
}

func TestASearchFindsEachWordInIDOrName(t *testing.T) {
	for words, want := range map[string]string{"ds5 V2": "azure/Standard_DS5_v2", "expressroute ULTRA": "azure/gateway/UltraPerformance"} {
		if found := catalog.Builtin().Search(words); len(found) != 1 || found[0].ID != want {
			t.Errorf("%s: %+v, want %s", words, found, want)
		}
	}
	for words, want := range map[string][2]string{ // one that is found, and one that is not
		"linode": {"akamai/g7-premium-2", "azure/gateway/Standard"}, "FastPath": {"azure/gateway/UltraPerformance", "azure/gateway/Standard"},
		"single": {"aws/flow/ena-express", "aws/m5.large"}, "burst t3": {"aws/t3.nano", "aws/m7i-flex.large"},
	} {
		has := func(id string) bool {
			return slices.ContainsFunc(catalog.Builtin().Search(words), func(c catalog.Component) bool { return c.ID == id })
		}
		if !has(want[0]) || has(want[1]) {
			t.Errorf("%s: %s %v, %s %v", words, want[0], has(want[0]), want[1], has(want[1]))
		}
	}
	if found := catalog.Builtin().Search("expressroute akamai"); len(found) > 0 {
		t.Errorf("%+v has both", found)
	}
}

func TestAnUnknownComponentNamesASimilarOne(t *testing.T) {
	_, err := catalog.Builtin().Find("azure/Standard_DS5_v22")
	if measure.KindOf(err) != measure.KindNotFound || !strings.Contains(measure.AsError(err, "").Hint, "azure/Standard_DS5_v2") {
		t.Errorf("%v, %q", err, measure.AsError(err, "").Hint)
	}
	if c, err := catalog.Builtin().Find("AZURE/standard_ds5_V2"); err != nil || c.ID != "azure/Standard_DS5_v2" {
		t.Errorf("%+v, %v: the case of letters is no difference", c, err)
	}
}

const own = `tables:
- of: our VM
  source: contract 7
  date: 2026-11-01
  figure: goodput
  direction: out
  limits: {azure/Standard_DS5_v2: 11 Gbit/s, office/line: 500 Mbit/s}
`

func parse(t *testing.T, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse("own.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAPersonsOwnLimitsReplaceThoseOfTheSameKind(t *testing.T) {
	all := catalog.Builtin().Merge(parse(t, own))
	vm, _ := all.Find("azure/Standard_DS5_v2")
	if len(vm.Limits) != 1 || vm.Limits[0].Value != 11e9 || vm.Limits[0].Source != "contract 7" || vm.Name != "our VM Standard_DS5_v2" {
		t.Errorf("%+v", vm)
	}
	if line, err := all.Find("office/line"); err != nil || line.Limits[0].Value != 500e6 {
		t.Errorf("%+v, %v", line, err)
	}
	in := catalog.Builtin().Merge(parse(t, strings.Replace(own, "direction: out", "direction: in", 1)))
	if vm, _ := in.Find("azure/Standard_DS5_v2"); len(vm.Limits) != 2 {
		t.Errorf("%+v: a limit of another direction replaced it", vm)
	}
	if vm, _ := catalog.Builtin().Find("azure/Standard_DS5_v2"); vm.Limits[0].Value != 12e9 {
		t.Errorf("%+v: merging changed what was merged into", vm)
	}
}

func TestWhatIsWrongInAFileHasLineAndColumn(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"figure: goodput", "figure: gootput"}:            "own.yaml:5:11",
		{"direction: out", "direction: up"}:               "own.yaml:6:14",
		{"date: 2026-11-01", "date: yesterday"}:           "own.yaml:4:9",
		{"  source: contract 7\n", ""}:                    "own.yaml:2:3",
		{"11 Gbit/s", "11 parsec"}:                        "own.yaml:7:",
		{"500 Mbit/s", "0"}:                               "own.yaml:7:",
		{"office/line", "azure/standard_ds5_v2"}:          "own.yaml:7:",
		{"office/line", `"a line"`}:                       "own.yaml:7:",
		{"of: our VM", "off: our VM"}:                     "own.yaml:2:3",
		{"of: our VM", "of: " + strings.Repeat("x", 300)}: "own.yaml:2:7",
	} {
		_, err := catalog.Parse("own.yaml", []byte(strings.Replace(own, change[0], change[1], 1)))
		if err == nil || !strings.HasPrefix(err.Error(), want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%q: %v, want %s", change[1], err, want)
		}
	}
}

const several = `tables:
- {of: VM, source: s, date: 2026-01-01, figure: goodput, direction: out, limits: {x: 4G}}
- {of: VM, source: s, date: 2026-01-01, figure: goodput, direction: in, limits: {x: 40G}}
- {of: VM, source: s, date: 2026-01-01, figure: goodput, direction: out, duration: burst, limits: {x: 6G}}
- {of: VM, source: s, date: 2026-01-01, figure: goodput, flow: single, limits: {x: 1G}}
- {of: VM, source: s, date: 2026-01-01, figure: packets_per_second, limits: {x: 1M}}
- {of: VM, source: s, date: 2026-01-01, figure: iops, limits: {x: 500}}
`

func TestTheLimitIsThatOfTheDirectionTheStreamsAndTheMetric(t *testing.T) {
	c, err := parse(t, several).Find("x")
	if err != nil {
		t.Fatal(err)
	}
	of := func(role catalog.Role, d measure.Direction, streams int) map[string]float64 {
		out := map[string]float64{}
		for _, l := range c.Of(role, measure.Options{Direction: d, Streams: streams}) {
			out[l.Metric] = l.Value
		}
		return out
	}
	for _, w := range []struct {
		role    catalog.Role
		d       measure.Direction
		streams int
		want    map[string]float64
	}{
		{catalog.AtClient, measure.Forward, 8, map[string]float64{"goodput_bps": 6e9, "packets_per_second": 1e6}},
		{catalog.AtClient, measure.Reverse, 8, map[string]float64{"goodput_bps": 40e9, "packets_per_second": 1e6}},
		{catalog.AtServer, measure.Forward, 8, map[string]float64{"goodput_bps": 40e9, "packets_per_second": 1e6}},
		{catalog.AtServer, measure.Reverse, 8, map[string]float64{"goodput_bps": 6e9, "packets_per_second": 1e6}},
		{catalog.OnPath, measure.Reverse, 8, map[string]float64{"goodput_bps": 6e9, "packets_per_second": 1e6}},
		{catalog.AtServer, measure.Forward, 1, map[string]float64{"goodput_bps": 1e9, "packets_per_second": 1e6}},
		{catalog.AtClient, measure.Bidirectional, 8, map[string]float64{"forward_bps": 6e9, "reverse_bps": 40e9}},
	} {
		got := of(w.role, w.d, w.streams)
		if len(got) != len(w.want) {
			t.Errorf("%+v: %v", w, got)
		}
		for metric, v := range w.want {
			if got[metric] != v {
				t.Errorf("%+v: %s %v", w, metric, got[metric])
			}
		}
	}
}

func TestAHostIsTheComponentThatItsMetadataNamesAndNoOther(t *testing.T) {
	host := func(provider, kind string) *measure.Host {
		h := &measure.Host{}
		h.Facts.Cloud = &measure.Cloud{Provider: provider, InstanceType: kind}
		return h
	}
	if c := catalog.Builtin().OfHost(host("azure", "Standard_D8s_v5")); c == nil || c.ID != "azure/Standard_D8s_v5" {
		t.Errorf("%+v", c)
	}
	for _, h := range []*measure.Host{nil, {}, host("azure", ""), host("azure", "Standard_D8s_v55"), host("aws", "Standard_D8s_v5")} {
		if c := catalog.Builtin().OfHost(h); c != nil {
			t.Errorf("%+v for %+v", c, h)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(own))
	f.Add([]byte(several))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := catalog.Parse("f", text)
		if err != nil {
			return
		}
		for _, id := range c.IDs() {
			if one, err := c.Find(id); err != nil || one.ID != id {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}
