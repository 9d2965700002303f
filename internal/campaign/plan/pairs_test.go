package plan_test

import (
	"fmt"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// trialsOf are the trials of a plan's first rounds as "client>server", in alphabetical order.
func trialsOf(p *plan.Plan, rounds int) []string {
	var out []string
	for b := range schedule.Blocks(p, "c", 1) {
		if b.Round > rounds {
			break
		}
		for j := range b.Jobs() {
			out = append(out, j.Client.Reference()+">"+j.Server.Reference())
		}
	}
	slices.Sort(out)
	return out
}

func TestPairsAreWhatThePlanSays(t *testing.T) {
	for pairs, want := range map[string]string{
		"{mesh: [a, b, c]}":                                   "a>b a>c b>a b>c c>a c>b",
		"{mesh: [tokyo, c]}":                                  "a>b a>c b>a b>c c>a c>b",
		"{mesh: [tokyo.vlan]}":                                "a.vlan>b.vlan b.vlan>a.vlan",
		"{mesh: ['*.vpc']}":                                   "a.vpc>b.vpc b.vpc>a.vpc",
		"{between: [[tokyo], [osaka]]}":                       "a>d a>e b>d b>e",
		"{between: [[tokyo], [osaka]], both: true}":           "a>d a>e b>d b>e d>a d>b e>a e>b",
		"{between: [[tokyo], [tokyo, f]]}":                    "a>b a>f b>a b>f",
		"{list: [[a, b.vlan], [c, d]]}":                       "a>b.vlan c>d",
		"{list: [[a, b], [b, a], [a, b]], both: true}":        "a>b b>a",
		"{list: [[a, osaka]]}":                                "a>d a>e",
		"{list: [[mixed, d]]}":                                "a.vlan>d f>d",
		"{mesh: [tokyo, tokyo.vlan]}":                         "a.vlan>b a.vlan>b.vlan a>b a>b.vlan b.vlan>a b.vlan>a.vlan b>a b>a.vlan",
		"{mesh: [tokyo, tokyo.vlan], exclude: [[a, '*']]}":    "b.vlan>a b.vlan>a.vlan b>a b>a.vlan",
		"{mesh: [a, b, c], exclude: [[a, b], [b, a]]}":        "a>c b>c c>a c>b",
		"{between: [['*'], [a]], exclude: [[b, a], [c, a]]}":  "d>a e>a f>a",
		"{mesh: [a, b], list: [[c, d], [a, b]], both: true}":  "a>b b>a c>d d>c",
		"{mesh: [a.vlan, b.vlan], exclude: [[a.vlan, b]]}":    "b.vlan>a.vlan",
		"{mesh: [tokyo, tokyo.vlan], exclude: [[a.vlan, b]]}": "a>b a>b.vlan b.vlan>a b.vlan>a.vlan b>a b>a.vlan",
	} {
		p := plans.Parse(t, plans.WithPairs(pairs))
		got := trialsOf(p, 1)
		if strings.Join(got, " ") != want || p.PairCount() != len(got) || p.Trials() != 6*len(got) {
			t.Errorf("%s: %d pairs, %d trials\n%s\nwant\n%s", pairs, p.PairCount(), p.Trials(), strings.Join(got, " "), want)
		}
	}
}

func TestABlockHasEachPairTestAndRepeat(t *testing.T) {
	p := plans.Parse(t, plans.WithPairs("{mesh: [a, b, c]}")+"repeats: 2\nfactors: {streams: [1, 4]}\n"+
		"contention: [isolated, together]\n")
	if got := plans.PatternNames(p); got != "1 / isolated; 1 / together; 4 / isolated; 4 / together" {
		t.Fatalf("patterns are %s", got)
	}
	orders, keys := map[int]bool{}, map[string]bool{}
	drawn := map[string]bool{}
	blocks := 0
	for b := range schedule.Blocks(p, "c", 1) {
		blocks++
		var pairs []string
		for i := range b.Len {
			j, s := b.Job(i), b.Slot(i)
			if b.Hosts[s.Client] != j.Client.Machine() || b.Hosts[s.Server] != j.Server.Machine() {
				t.Fatalf("trial %d of %s>%s is at %s and %s", i, j.Client.Reference(), j.Server.Reference(), b.Hosts[s.Client], b.Hosts[s.Server])
			}
			together := strings.HasSuffix(b.Pattern.Name, plan.Together)
			if want := i/6 + 1; together && s.Group != want || !together && s.Group != 0 {
				t.Errorf("trial %d of %s is in group %d", i, b.Pattern.Name, s.Group)
			}
			if b.Round == 1 {
				orders[j.Trial.Order] = true
			}
			keys[identity(j.Key())] = true
			pairs = append(pairs, j.Client.Reference()+j.Server.Reference())
		}
		if len(b.Hosts) != 3 || b.Len != 12 {
			t.Errorf("%s has %d trials on hosts %v", b.Pattern.Name, b.Len, b.Hosts)
		}
		drawn[fmt.Sprint(pairs)] = true
	}
	if blocks != 24 || len(orders) != 48 || len(keys) != 288 || p.Trials() != 288 {
		t.Errorf("%d blocks, %d orders in a round, %d keys, %d trials", blocks, len(orders), len(keys), p.Trials())
	}
	if len(drawn) < 10 {
		t.Errorf("the pairs of %d blocks are in %d orders", blocks, len(drawn))
	}
	var first, again []string
	for b := range schedule.Blocks(p, "c", 1) {
		first = append(first, fmt.Sprint(b.Job(0).Key()))
	}
	for b := range schedule.Blocks(p, "c", 1) {
		again = append(again, fmt.Sprint(b.Job(0).Key()))
	}
	if !slices.Equal(first, again) {
		t.Error("the same seed gives another order of pairs")
	}
}

func TestLevelsChooseTheAddressesOfPairs(t *testing.T) {
	p := plans.Parse(t, plans.WithPairs("{mesh: [a, b]}")+"factors: {interface: [default, {name: vlan, from_label: vlan, to_label: vlan}, {name: mixed, to_label: vpc}]}\n")
	if got := strings.Join(trialsOf(p, 1), " "); got != "a.vlan>b.vlan a>b a>b.vpc b.vlan>a.vlan b>a b>a.vpc" {
		t.Errorf("trials are %s", got)
	}
	for b := range schedule.Blocks(p, "c", 1) {
		for j := range b.Jobs() {
			if vlan := b.Pattern.Name == "vlan"; vlan != (j.Options.Bind != "") || vlan && j.Options.Bind != j.Client.Endpoint.Address {
				t.Errorf("%s leaves by %q", j.Client.Reference(), j.Options.Bind)
			}
		}
	}
}

func TestATrialGoesToThePortOfItsServer(t *testing.T) {
	for text, want := range map[string]string{
		plans.WithPairs("{list: [[a, b], [c, d]]}"):                                                   "b 7658 d 9000",
		plans.WithPairs("{list: [[a, b], [c, d]]}") + "factors: {port: [7000]}\n":                     "b 7000 d 7000",
		strings.Replace(plans.WithPairs("{list: [[a, b], [c, d]]}"), "duration: 1s", "port: 8000", 1): "b 8000 d 8000",
	} {
		p := plans.Parse(t, text)
		var got []string
		for b := range schedule.Blocks(p, "c", 1) {
			if b.Round == 1 {
				for j := range b.Jobs() {
					effective, err := option.Effective(j.Options, j.Test)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprint(j.Server.Reference(), " ", effective.Port))
				}
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s\ngoes to %v, want %s", text, got, want)
		}
	}
}

func TestTestsHaveRepeatsAndRoundsOfTheirOwn(t *testing.T) {
	p := plans.Parse(t, strings.Replace(plans.Minimal, "tests:", "tests:\n  long: {test: tcp, duration: 60s, repeats: 1, rounds: 1}\n  short: {test: tcp, duration: 10s, repeats: 4}\n  #", 1)+"rounds: 2\nrepeats: 2\n")
	var got []string
	for b := range schedule.Blocks(p, "c", 1) {
		for j := range b.Jobs() {
			got = append(got, fmt.Sprint(j.Trial.Round, j.Trial.Label, j.Trial.Repeat))
		}
	}
	if want := "1long1 1short1 1short2 1short3 1short4 2short1 2short2 2short3 2short4"; strings.Join(got, " ") != want || p.Trials() != 9 {
		t.Errorf("%d trials: %s", p.Trials(), strings.Join(got, " "))
	}
	e := advice.EstimateOf(p, nil)
	if e.Trials != 9 || e.Time.Seconds() < 140 || e.Time.Seconds() > 145 {
		t.Errorf("estimate is %+v", e)
	}
}

func TestMistakesInPairsAreNamedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		plans.WithPairs("{}"):                                                                        "pairs: pairs names no pairs",
		plans.WithPairs("{mesh: [a]}"):                                                               "pairs.mesh: it has no two endpoints on different hosts",
		plans.WithPairs("{mesh: [a, x]}"):                                                            `pairs.mesh.2: there is no endpoint or group "x"`,
		plans.WithPairs("{mesh: [a, tokio]}"):                                                        "did you mean tokyo?",
		plans.WithPairs("{mesh: [a, b.vln]}"):                                                        `pairs.mesh.2: endpoint b has no address labelled "vln"`,
		plans.WithPairs("{mesh: [a, osaka.vlan]}"):                                                   `pairs.mesh.2: endpoint d has no address labelled "vlan"`,
		plans.WithPairs("{mesh: [mixed.vpc]}"):                                                       "pairs.mesh.1: the label of the address is given twice, vpc and in a.vlan",
		plans.WithPairs("{mesh: ['*.x']}"):                                                           `no endpoint has an address labelled "x"`,
		plans.WithPairs("{between: [[a]]}"):                                                          "pairs.between: 1 list, expected 2",
		plans.WithPairs("{list: [[a, b, c]]}"):                                                       "pairs.list.1: 3 members, expected 2",
		plans.WithPairs("{list: [[a, a.vlan]]}"):                                                     "pairs.list.1: it has no two endpoints on different hosts",
		plans.WithPairs("{list: [[a, b]], exclude: [[b, a]]}"):                                       "pairs.exclude.1: it excludes none of the pairs",
		plans.WithPairs("{list: [[a, b]], exclude: [[a, b]]}"):                                       "pairs.exclude: no pair is left",
		plans.WithPairs("{mehs: [a, b]}"):                                                            "did you mean mesh",
		plans.WithPairs("{mesh: [a, b]}") + "from: a\n":                                              "from: the plan has pairs, which say the endpoints",
		plans.WithPairs("{mesh: [a, b]}") + "factors: {x: [{name: one, to: c}]}\n":                   "factors.x.1.to: the plan has pairs",
		plans.WithPairs("{mesh: [a, b.vlan]}") + "factors: {x: [{name: one, to_label: vpc}, two]}\n": "pattern one: the pairs name b.vlan, and the label vpc is set as well",
		plans.WithPairs("{mesh: [a, c]}") + "factors: {x: [{name: one, to_label: vpc}, two]}\n":      `pattern one: endpoint c has no address labelled "vpc"`,
		plans.WithPairs("{mesh: [a, b]}") + "contention: alone\n":                                    `contention: "alone" is no contention`,
		plans.WithPairs("{mesh: [a, b]}") + "contention: [isolated, isolated]\n":                     "contention: isolated is there twice",
		plans.WithPairs("{mesh: [a, b]}") + "contention: [isolated, together]\nfactors: {contention: [{name: x, before: a}]}\n": "a list of contention is a factor of that name",
		plans.Minimal + "contention: isolated\n":                                                    "contention is about pairs, and the plan has none",
		plans.Minimal + "trials_at_once: 2\n":                                                       "trials_at_once is about pairs, and the plan has none",
		plans.Minimal + "groups: {vm: [vm]}\n":                                                      "groups.vm: vm is a group and an endpoint",
		plans.Minimal + "groups: {'a b': [vm]}\n":                                                   `"a b" cannot name a group`,
		plans.Minimal + "groups: {x: []}\n":                                                         "groups.x: the group has no members",
		plans.Minimal + "groups: {x: [y]}\n":                                                        `groups.x.1: there is no endpoint "y"`,
		strings.ReplaceAll(plans.WithPairs("{mesh: [e, f]}"), "command: [ssh, f, soku]", "port: 1"): "",
		strings.NewReplacer("command: [ssh, f, soku]", "port: 1", "command: [ssh, e, soku]", "port: 1").Replace(plans.WithPairs("{mesh: [e, f]}")): "e and f are clients, and nothing starts soku on them",
		strings.Replace(plans.WithPairs("{list: [[a, e]]}"), "address: 10.0.0.5, ", "", 1):                                                         "endpoint e has no address to measure against",
		plans.ManyHosts(4) + "pairs: {mesh: ['*']}\nisolated_pairs: 4\n":                                                                           "isolated_pairs is how many pairs are measured one at a time where both ways of contention are compared",
		plans.ManyHosts(40) + "pairs: {mesh: ['*']}\ncontention: together\n":                                                                       "1560 pairs cannot start together; at most 1000 can",
		plans.ManyHosts(1100) + "pairs: {mesh: ['*']}\n":                                                                                           "1208900 pairs; at most 1000000 are run",
		strings.Replace(plans.Minimal, "test: tcp", "test: tcp, repeats: 0", 1):                                                                    "0 is out of range",
	} {
		_, err := plan.Parse("plan.yaml", []byte(text))
		if want == "" {
			if err != nil {
				t.Errorf("%v for\n%s", err, text)
			}
			continue
		}
		hinted := ""
		if e := measure.AsError(err, measure.KindInternal); e != nil {
			hinted = e.Error() + "\n" + e.Hint
		}
		if !strings.Contains(hinted, want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%.600s\ngives %s\nwant %s", text, hinted, want)
		}
	}
}

func TestAMeshOfALabTakesItsAddressesFromTheTopology(t *testing.T) {
	p := plans.Parse(t, "campaign: l\nlab: t.yaml\nendpoints: {a: {host: h1}, b: {host: h2}, b2: {host: h2}}\npairs: {mesh: ['*']}\n"+
		"factors: {label: [default, {name: vlan, from_label: vlan, to_label: vlan}]}\ntests: {up: {test: tcp}}\n")
	if err := p.Resolve(func(host, label string) (string, error) { return host + "-" + label, nil }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(trialsOf(p, 1), " "); got != "a.vlan>b.vlan a.vlan>b2.vlan a>b a>b2 b.vlan>a.vlan b2.vlan>a.vlan b2>a b>a" {
		t.Errorf("trials are %s", got) // none between b and b2, which are one host
	}
	for b := range schedule.Blocks(p, "c", 1) {
		for j := range b.Jobs() {
			if want := j.Server.Host + "-" + j.Server.Endpoint.Label; j.Server.Endpoint.Address != want || len(b.Hosts) != 2 {
				t.Errorf("%s is at %s, hosts are %v", j.Server.Reference(), j.Server.Endpoint.Address, b.Hosts)
			}
		}
	}
}
