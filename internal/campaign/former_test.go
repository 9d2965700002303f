package campaign_test

import (
	"fmt"
	"reflect"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

func TestAFormerKeyIsAnErrorThatNamesTheNewForm(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"max_bytes: 50G\n", "p.yaml:5:1: max_bytes is no longer a key of plans; write budget: {bytes: 50G}"},
		{"egress_price_per_gb: 0.08\n", "p.yaml:5:1: egress_price_per_gb is no longer a key of plans; write budget: {egress_price_per_gb: 0.08}"},
		{"rounds: 4\nuntil: {interval: 2%, max_time: 2h}\n", "p.yaml:6:23: until.max_time is no longer a key of plans; write budget: {time: 2h}"},
		{"factors: {streams: [1, 2], a: [x, y]}\nzip: [[streams, a]]\n", "p.yaml:6:1: zip is no longer a key of plans; give the levels of one of its factors when:, such as {name: LEVEL, when: {FACTOR: LEVEL}}"},
		{"factors: {streams: [1, 2]}\npatterns: [{streams: 1}]\n", "p.yaml:6:1: patterns is no longer a key of plans; leave patterns out with exclude:, or with when: on levels"},
		{"budget: {max_bytes: 1G}\n", `p.yaml:5:10: budget: unknown key "max_bytes"`},
	} {
		_, err := plan.Parse("p.yaml", []byte(plans.Minimal+c.keys))
		if err == nil || measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %serror is %v\nwant     %s", c.keys, err, c.want)
		}
	}
}

func TestACampaignThatBeganWithFormerKeysOfTheBudgetResumes(t *testing.T) {
	former := "max_bytes: 50G\negress_price_per_gb: 0.08\nuntil: {interval: 2%, max_time: 2h}\nbudget: {price: 20}\n"
	b := newBench(t, plans.Study)
	b.plan.Text = []byte(plans.Study + former)
	b.create()
	id := b.campaign.ID()
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.ParseRecorded("plan.yaml", []byte(plans.Study+former)); err != nil {
		t.Fatal(err)
	}
	b.plan = plans.Parse(t, plans.Study+"budget: {bytes: 50G, egress_price_per_gb: 0.08, time: 2h, price: 20}\nuntil: {interval: 2%}\n")
	c, err := campaign.Resume(b.campaigns(), id, b.plan)
	if err != nil {
		t.Fatal(err)
	}
	b.campaign = c
}

func TestWhenAndExcludeSayWhatFormerKeysSaid(t *testing.T) {
	for _, c := range []struct{ former, now, want string }{
		{plans.Siblings + "zip: [[client, server]]\n", plans.Bound, "tokyo / 1 / T; tokyo / 16 / T; osaka / 1 / O; osaka / 16 / O"},
		{plans.Siblings + "zip: [[server, client]]\n", plans.Bound, "tokyo / 1 / T; tokyo / 16 / T; osaka / 1 / O; osaka / 16 / O"},
		{plans.Siblings + "zip: [[client, server]]\nexclude: [{client: tokyo, streams: 16}]\n", plans.Bound + "exclude: [{client: tokyo, streams: 16}]\n", "tokyo / 1 / T; osaka / 1 / O; osaka / 16 / O"},
		{
			plans.Siblings + "zip: [[client, server]]\n", plans.Siblings + "exclude: [{client: tokyo, server: O}, {client: osaka, server: T}]\n",
			"tokyo / 1 / T; tokyo / 16 / T; osaka / 1 / O; osaka / 16 / O",
		},
		{
			plans.Siblings + "zip: [[client, streams, server]]\n", strings.Replace(plans.Bound, "[1, 16]", "[{name: 1, when: {client: tokyo}}, {name: 16, when: {client: osaka}}]", 1),
			"tokyo / 1 / T; osaka / 16 / O",
		},
		{plans.Siblings + "patterns: [{client: tokyo, streams: 1}, {client: osaka, streams: 1, server: O}]\n", plans.Siblings + "exclude: [{streams: 16}, {client: osaka, server: T}]\n", "tokyo / 1 / T; tokyo / 1 / O; osaka / 1 / O"},
	} {
		former, err := plan.ParseRecorded("plan.yaml", []byte(c.former))
		if err != nil {
			t.Errorf("%s%v", c.former, err)
			continue
		}
		now := plans.Parse(t, c.now)
		if a, b := plans.PatternNames(former), plans.PatternNames(now); a != c.want || b != c.want {
			t.Errorf("formerly %s\nnow      %s\nwant     %s", a, b, c.want)
		}
		for i, pt := range now.AllPatterns() {
			if was := former.AllPatterns()[i]; was.From != pt.From || was.To != pt.To || !reflect.DeepEqual(was.Tests[0].Options, pt.Tests[0].Options) {
				t.Errorf("pattern %s was %+v and is %+v", pt.Name, was, pt)
			}
		}
		resumesAs(t, c.former, c.now)
	}
}

// resumesAs fails if a campaign that began with one plan cannot go on with another.
func resumesAs(t *testing.T, began, now string) {
	t.Helper()
	if err := resumeAs(t, began, now); err != nil {
		t.Errorf("began with\n%s%v", began, err)
	}
}

// resumeAs resumes a campaign that began with one plan with another.
func resumeAs(t *testing.T, began, now string) error {
	t.Helper()
	b := newBench(t, now)
	b.plan.Text = []byte(began)
	b.create()
	id := b.campaign.ID()
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := campaign.Resume(b.campaigns(), id, plans.Parse(t, now))
	if err == nil {
		b.campaign = c
	}
	return err
}

func TestACampaignThatBeganWithFormerKeysDoesNotResumeWithOtherPatterns(t *testing.T) {
	for _, c := range []struct{ began, now, key string }{
		{plans.Siblings + "zip: [[client, server]]\n", plans.Siblings, "patterns"},
		{plans.Siblings + "zip: [[client, server]]\n", strings.Replace(plans.Bound, "name: 16", "name: 8", 1) + "exclude: [{streams: 16}]\n", "patterns"},
		{plans.Siblings + "zip: [[client, server]]\n", strings.Replace(plans.Bound, "from: o1", "from: o2", 1) + "exclude: [{client: osaka}]\n", "factors"},
		{plans.Siblings + "patterns: [{client: osaka}, {client: tokyo}]\n", plans.Siblings, "patterns"}, // in another order
	} {
		err := resumeAs(t, c.began, c.now)
		if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), " changed") {
			t.Errorf("with\n%s%v", c.now, err)
		}
	}
}

func TestRecordedPatternsAreInTheOrderOfTheirList(t *testing.T) {
	for list, want := range map[string]string{
		"zip: [[client, server]]\npatterns: [{server: O, streams: 1}, {client: tokyo}]\n":      "osaka / 1 / O; tokyo / 1 / T; tokyo / 16 / T",
		"zip: [[client, server]]\npatterns: [{server: [O, T], client: [osaka], streams: 1}]\n": "osaka / 1 / O",
		"patterns: [{client: osaka, streams: [16, 1], server: O}, {server: O}]\n":              "osaka / 1 / O; osaka / 16 / O; tokyo / 1 / O; tokyo / 16 / O",
	} {
		p, err := plan.ParseRecorded("plan.yaml", []byte(plans.Siblings+list))
		if err != nil {
			t.Errorf("%s%v", list, err)
		} else if got := plans.PatternNames(p); got != want {
			t.Errorf("with %spatterns are %s\nwant         %s", list, got, want)
		}
	}
	for _, broken := range []string{"zip: [[client, sevrer]]\n", "zip: [[]]\n", "zip: [[client, client]]\n", "patterns: [{client: x}]\n", "zip: x\n"} {
		_, err := plan.ParseRecorded("plan.yaml", []byte(plans.Siblings+broken))
		if err != nil && measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s%v", broken, err)
		}
	}
}

func TestAFactorMayNameWhatTheOneThatItGoesWithSets(t *testing.T) {
	for _, text := range []string{
		"factors: {class: [S, L], streams: [{name: 1, when: {class: S}}, {name: 16, when: {class: L}}]}\n",
		"factors: {class: [{name: S, when: {streams: 1}}, {name: L, when: {streams: 16}}], streams: [1, 16]}\n",
		"factors: {class: [S, L], streams: [1, 16]}\nexclude: [{class: S, streams: 16}, {class: L, streams: 1}]\n",
	} {
		if got := plans.PatternNames(plans.Parse(t, plans.Minimal+text)); got != "S / 1; L / 16" {
			t.Errorf("%spatterns are %s", text, got)
		}
	}
	plans.Parse(t, plans.Minimal+"factors: {a: [{name: x, when: {b: p}}, {name: y, when: {b: q}}], b: {by: hand, levels: [p, q]}}\n")
	for _, c := range []struct{ text, want string }{
		{"factors: {class: [S, L], streams: [1, 16]}\n", `factor "class" sets nothing: its levels S and L`},
		{"factors: {class: [S, L], streams: [1, {name: 16, when: {class: L}}]}\n", `factor "class" sets nothing: its levels S and L`},
		{
			"factors: {a: [x, y, z], b: [{name: 1, when: {a: x}}, {name: 2, when: {a: y}}, {name: 3, to: vm, when: {a: z}}]}\n",
			`factor "a" sets nothing: its levels x and y differ`,
		},
	} {
		if _, err := plan.Parse("p.yaml", []byte(plans.Minimal+c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("for\n%serror is %v\nwant     %s", c.text, err, c.want)
		}
	}
}

func TestANameVariesATestAsTheFactorsThatItGoesWith(t *testing.T) {
	for _, class := range []string{"[S, L], streams: [1, 16]}\nzip: [[class, streams]]\n", "[{name: S, when: {streams: 1}}, {name: L, when: {streams: 16}}], streams: [1, 16]}\n"} {
		p, err := plan.ParseRecorded("plan.yaml", []byte(`campaign: c
endpoints: {vm: {address: 10.0.0.4}}
to: vm
tests: {up: {test: tcp}, rtt: {test: latency, count: 20}}
factors: {class: `+class))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{"rtt": {"class", "streams"}}
		if got := p.Unvaried(); !reflect.DeepEqual(got, want) {
			t.Errorf("without effect are %v, want %v", got, want)
		}
	}
}

func TestRecordedFactorsThatGoTogetherAreFewPatterns(t *testing.T) {
	var b strings.Builder
	b.WriteString(plans.Minimal + "factors:\n")
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("f%d", i))
		fmt.Fprintf(&b, "  f%d: {by: hand, levels: [a, b, c, d, e, f, g, h, i, j]}\n", i)
	}
	b.WriteString("zip: [[" + strings.Join(names, ", ") + "]]\n")
	p, err := plan.ParseRecorded("plan.yaml", []byte(b.String()))
	if err != nil || len(p.AllPatterns()) != 10 {
		t.Errorf("error %v", err)
	}
}
