package plan_test

import (
	"errors"
	"fmt"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestAMinimalPlanHasDefaults(t *testing.T) {
	p := plans.Parse(t, plans.Minimal)
	if p.Repeats != 1 || p.Rounds != 6 || p.Seed != nil || p.Trials() != 6 || plans.PatternNames(p) != "all" {
		t.Errorf("repeats %d, rounds %d, seed %v, trials %d, patterns %s", p.Repeats, p.Rounds, p.Seed, p.Trials(), plans.PatternNames(p))
	}
	o := p.AllPatterns()[0].Tests[0].Options
	if o.Streams != 1 || o.Via != option.ViaSoku || o.Duration.Std() != 10*time.Second {
		t.Errorf("options are %+v", o)
	}
}

func TestPatternsAreTheCombinationsWithoutTheExcluded(t *testing.T) {
	p := plans.Parse(t, plans.Full)
	want := "standard / 1 / cubic; ultra / 1 / cubic; ultra / 16 / cubic; ultra / 16 / modern"
	if got := plans.PatternNames(p); got != want {
		t.Errorf("patterns are %s, want %s", got, want)
	}
}

func TestALevelSetsWhatItNames(t *testing.T) {
	p := plans.Parse(t, plans.Full)
	pt := p.AllPatterns()[3] // ultra / 16 / modern
	if pt.To != "vm.public" || pt.From != "onprem" {
		t.Errorf("measures %s to %s", pt.From, pt.To)
	}
	if fmt.Sprint(pt.Before) != "[echo begin\ntrue\n ./switch.sh ultra]" || fmt.Sprint(pt.After) != "[./cc.sh ./back.sh echo end]" {
		t.Errorf("commands are %q and %q", pt.Before, pt.After)
	}
	load, up, ping := pt.Tests[0].Options, pt.Tests[1].Options, pt.Tests[2].Options
	if load.Streams != 16 || load.Window != 4<<20 || load.Congestion != "bbr" || tcp.OptionsOf(load).MSS != 1200 || load.Port != 9000 {
		t.Errorf("throughput runs with %+v", load)
	}
	if up.Port != 7000 {
		t.Errorf("the test's own port gave way to the endpoint's: %d", up.Port)
	}
	if ping.Streams != 0 || ping.Port != 0 {
		t.Errorf("ping runs with options that do not apply to it: %+v", ping)
	}
}

func TestRecordedPatternsThatOverlapAreThereOnce(t *testing.T) {
	p, err := plan.ParseRecorded("plan.yaml", []byte(plans.Minimal+`factors: {sku: [small, {name: large, options: {mss: 900}}], zone: [one, {name: two, options: {window: 1Mi}}, {name: three, options: {window: 2Mi}}]}
patterns:
  - {sku: large, zone: [three, one]}
  - {zone: two}
  - {sku: large, zone: one}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := plans.PatternNames(p); got != "large / one; large / three; small / two; large / two" {
		t.Errorf("patterns are %s", got)
	}
}

func TestAddressesOfALabComeFromItsTopology(t *testing.T) {
	p := plans.Parse(t, `campaign: x
lab: net.yaml
endpoints: {a: {host: client}, b: {host: server, addresses: {fixed: 10.9.9.9}}}
from: a.lan
factors: {path: [{name: vlan, to: b.vlan}, {name: fixed, to: b.fixed}, {name: first, to: b}]}
tests: {rtt: {test: latency}}
rounds: 1
`)
	err := p.Resolve(func(host, label string) (string, error) { return host + "-" + label, nil })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for b := range schedule.Blocks(p, "id", 1) {
		j := b.Job(0)
		if j.Options.Bind != "client-lan" || j.Client.Host != "client" {
			t.Errorf("the client is %+v and binds to %s", j.Client, j.Options.Bind)
		}
		got[j.Trial.Pattern] = j.Server.Endpoint.Address
	}
	if fmt.Sprint(got) != "map[first:server- fixed:10.9.9.9 vlan:server-vlan]" {
		t.Errorf("servers are %v", got)
	}
	if p.LabFile() != "net.yaml" {
		t.Errorf("topology is %s", p.LabFile())
	}
	err = p.Resolve(func(string, string) (string, error) { return "", errors.New("no such host") })
	if err == nil || !strings.Contains(err.Error(), "endpoint a.lan: no such host") {
		t.Errorf("error is %v", err)
	}
}

func TestErrorsNameThePlaceAndWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "p.yaml:1:1: the file is empty; begin with campaign:"},
		{"- a\n", "p.yaml:1:1: expected keys with values, found a list"},
		{"campaign: [", "p.yaml:1:11: not YAML:"},
		{"tests: {}\n", "p.yaml:1:1: the plan has no name"},
		{"campaign: a b\n", `p.yaml:1:11: "a b" cannot name a campaign`},
		{"campaign: x\n---\ncampaign: y\n", "p.yaml:3:1: a second document"},
		{plans.Minimal + "repaets: 3\n", `p.yaml:5:1: unknown key "repaets"; did you mean repeats?`},
		{plans.Minimal + "colour: 3\n", `p.yaml:5:1: unknown key "colour"; known keys are campaign, title`},
		{plans.Minimal + "rounds: 0\n", "p.yaml:5:9: rounds: 0 is out of range; allowed: 1..10000"},
		{plans.Minimal + "find: {option: streams, test: nothing, from: 1, to: 8}\n", "the tests are throughput"},
		{plans.Minimal + "budget: {price: -1}\n", "-1 is out of range; allowed: 0.."},
		{plans.Minimal + "rounds: x\n", `p.yaml:5:9: rounds: expected a whole number, found "x"`},
		{plans.Minimal + "rounds: [1]\n", "p.yaml:5:9: rounds: expected a single value, found a list"},
		{plans.Minimal + "to: vm\n", "p.yaml:5:1: "},
		{plans.Minimal + "pause: 10x\n", `p.yaml:5:8: pause: duration "10x": not a time`},
		{plans.Minimal + "budget: {egress_price_per_gb: -1}\n", "p.yaml:5:31: budget.egress_price_per_gb: -1 is out of range"},
		{strings.Replace(plans.Minimal, "duration: 10s", "durration: 10s", 1), `p.yaml:4:33: tests.throughput: unknown key "durration"; did you mean duration?`},
		{strings.Replace(plans.Minimal, "duration: 10s", "protocol: tcp", 1), "p.yaml:4:33: tests.throughput: protocol does not apply to the tcp test; it is for latency"},
		{strings.Replace(plans.Minimal, "test: tcp, ", "", 1), "p.yaml:4:21: tests.throughput: the key test is missing"},
		{strings.Replace(plans.Minimal, "test: tcp", "test: tpc", 1), `p.yaml:4:28: tests.throughput.test: unknown test "tpc"`},
		{strings.Replace(plans.Minimal, "duration: 10s", "streams: 5000", 1), "tests.throughput.streams: streams 5000: out of range"},
		{strings.Replace(plans.Minimal, "duration: 10s", "rate: 100", 1), "p.yaml:4:9: tests.throughput: rate 100.0 bit/s sends less than one packet"},
		{strings.Replace(plans.Minimal, "test: tcp, duration: 10s", "test: latency, flows: 0", 1), "tests.throughput.flows: flows 0: out of range; allowed: 1..256"},
		{strings.Replace(plans.Minimal, "to: vm", "to: mv", 1), `p.yaml:3:5: to: there is no endpoint "mv"; did you mean vm?`},
		{strings.Replace(plans.Minimal, "to: vm", "to: vm.vlan", 1), `p.yaml:3:5: to: endpoint vm has no address labelled "vlan"`},
		{strings.Replace(plans.Minimal, "to: vm\n", "", 1), "p.yaml:1:1: pattern all has no server"},
		{strings.Replace(plans.Minimal, "address: 10.0.0.4", "port: 80", 1), "p.yaml:2:13: endpoint vm has no address"},
		{strings.Replace(plans.Minimal, "address: 10.0.0.4", "host: h", 1), "p.yaml:2:24: endpoints.vm.host: a host belongs to a lab"},
		{strings.Replace(plans.Minimal, "10.0.0.4", "10.0.0.4/24", 1), `p.yaml:2:27: endpoints.vm.address: "10.0.0.4/24" is no address`},
		{plans.Minimal + "from: vm\n", "measures from vm to itself"},
		{plans.Minimal + "factors: {stream: [1, 16, 64]}\n", `p.yaml:5:11: factors.stream: factor "stream" sets nothing: its levels 1, 16 and 64 differ in their names only; did you mean streams? Where a person makes the change, write by: hand`},
		{plans.Minimal + "factors: {offload: [on, off]}\n", `p.yaml:5:11: factors.offload: factor "offload" sets nothing: its levels on and off differ in their names only; give the levels options:`},
		{plans.Minimal + "factors: {a: [{name: x, to: vm}, y, z]}\n", `factor "a" sets nothing: its levels y and z differ`},
		{plans.Minimal + "factors: {streams: [1, 16]}\nquestion: stream\n", `p.yaml:6:11: question: there is no factor "stream"; did you mean streams?`},
		{plans.Minimal + "factors: {site: [tokyo]}\n", `factor "site" sets nothing: its level tokyo is a name only`},
		{plans.Minimal + "factors: {a: [x, y]}\nbefore: echo $SOKU_FACTOR_AB\n", `factor "a" sets nothing`},
		{plans.Minimal + "factors: {a: {by: robot, levels: [x, y]}}\n", `p.yaml:5:19: factors.a.by: "robot" changes no levels; write hand`},
		{plans.Minimal + "factors: {a: {by: command, levels: [x, y]}}\n", "p.yaml:5:19: factors.a.by: by: command needs a command"},
		{plans.Minimal + "factors: {a: []}\n", "p.yaml:5:11: factors.a: 0 levels"},
		{plans.Minimal + "factors: {a: [x, y, x]}\n", `p.yaml:5:21: factors.a.3: the level "x" is there twice`},
		{plans.Minimal + "factors: {a: [{name: x, options: {streems: 1}}]}\n", `factors.a.1.options.streems: there is no option "streems"; did you mean streams?`},
		{plans.Minimal + "factors: {a: [{name: x, options: {size: 1}}]}\n", "size applies to none of the plan's tests"},
		{plans.Minimal + "factors: {streams: [few, many]}\n", `factors.streams.1: option streams: expected a whole number, found "few"; a factor with the name of an option sets it`},
		{plans.Minimal + "factors: {streams: [1, 2000]}\n", "tests.throughput: pattern 2000: streams 2000: out of range"},
		{plans.Minimal + "factors: {a: [{name: x, to: vm}], A: [y]}\n", "factors a and A would both be SOKU_FACTOR_A"},
		{plans.Minimal + "factors: {a: [{name: x, to: vn}]}\n", `p.yaml:5:29: a.1.to`},
		{plans.Minimal + "factors: {a: [{name: x, options: {mss: 900}}], b: [{name: y, options: {mss: 800}}]}\n", "factors a and b both set the option mss in pattern x / y"},
		{plans.Minimal + "factors: {a: [x, {name: y, to: vm}]}\nexclude: [{b: x}]\n", `p.yaml:6:12: exclude.1.b: there is no factor "b"`},
		{plans.Minimal + "factors: {gate: [small, {name: large, to: vm}]}\nexclude: [{gate: lagre}]\n", `p.yaml:6:12: exclude.1.gate: factor "gate" has no level "lagre"; did you mean large?`},
		{plans.Minimal + "factors: {a: [{name: x, to: vm}]}\nexclude: [{a: x}]\n", "p.yaml:6:10: no pattern is left"},
		{plans.Minimal + "factors: {a: [{name: x, to: vm}]}\nexclude: [{}]\n", "would leave out every pattern"},
		{plans.Minimal + "factors: {a: [x, {name: y, to: vm}]}\nexclude: [{a: x}]\nonly: {a: x}\n", "only: it selects none"},
		{plans.Minimal + "exclude: [{a: x}]\n", `exclude.1.a: there is no factor "a"; the plan has no factors`},
		{plans.Minimal + "rounds: 10000\nrepeats: 1000\nfactors: {streams: [1, 2]}\n", "has 20000000 trials; at most 10000000"},
		{plans.Minimal + "x: &a 1\ntitle: *a\n", `unknown key "x"`},
		{plans.Minimal + "title: *a\n", "title: YAML anchors and aliases are not allowed"},
	} {
		_, err := plan.Parse("p.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("no error for\n%s\nwant %s", c.text, c.want)
			continue
		}
		want := strings.Replace(c.want, "a.1.to", `factors.a.1.to: there is no endpoint "vn"`, 1)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("for\n%s\nerror is %s\nwant     %s", c.text, err, want)
		}
		if measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s has kind %s", err, measure.KindOf(err))
		}
	}
}

func TestALevelMayBeChangedByACommandOrAPerson(t *testing.T) {
	for _, text := range []string{
		"factors: {a: [x, y]}\nbefore: ./switch.sh \"$SOKU_FACTOR_A\"\n",
		"factors: {a: {by: command, levels: [x, y]}}\nbefore: ./switch.sh\n",
		"factors: {a: {by: hand, levels: [x, y]}}\n",
		"factors: {a: [as it is, {name: y, before: ./switch.sh}]}\n",
	} {
		if got := len(plans.Parse(t, plans.Minimal+text).AllPatterns()); got != 2 {
			t.Errorf("%s has %d patterns", text, got)
		}
	}
	p, err := plan.ParseRecorded("p.yaml", []byte(plans.Minimal+"factors: {a: [x, y]}\n"))
	if err != nil || len(p.AllPatterns()) != 2 {
		t.Errorf("the plan of a campaign that an older version began: %v", err)
	}
}

func TestErrorsOfAPlanAreData(t *testing.T) {
	_, err := plan.Parse("p.yaml", []byte(plans.Minimal+"factors: {streams: [1, 2000]}\n"))
	located := measure.AsError(err, measure.KindInternal)
	if located.Figures["path"] != "tests.throughput" || located.Figures["line"] != 4.0 || located.Figures["file"] != "p.yaml" {
		t.Errorf("the place is %v", located.Figures)
	}
	pattern := located.Cause
	if pattern == nil || pattern.Code != "campaign.in_pattern" || pattern.Figures["pattern"] != "2000" || pattern.Cause == nil {
		t.Fatalf("the problem is %+v", pattern)
	}
	if pattern.Cause.Code == "" || !strings.HasPrefix(pattern.Cause.Message, "streams 2000:") {
		t.Errorf("its cause is %+v", pattern.Cause)
	}
}

func TestTooManyCombinationsAreRefusedAtOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString(plans.Minimal + "factors:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  f%d: {by: hand, levels: [a, b, c, d, e, f, g, h, i, j]}\n", i)
	}
	_, err := plan.Parse("p.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 10000 combinations") {
		t.Errorf("error is %v", err)
	}
}

func TestAMissingPlanIsReported(t *testing.T) {
	_, err := plan.Load("nowhere.yaml", func(string) ([]byte, error) { return nil, errors.New("open nowhere.yaml: no such file") })
	if measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("error is %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(plans.Minimal)
	f.Add(plans.Full)
	f.Add(interfaces)
	f.Add(plans.Bound)
	f.Add(plans.Siblings + "zip: [[client, server]]\npatterns: [{client: tokyo}]\n")
	f.Add(conditional + "  disk: [plain, {name: u, before: ./on, when: {region: tokyo, streams: [1, 4]}}]\n" + conditionalTests)
	f.Add(plans.Minimal + "factors: {streams: {from: 1, to: 64, scale: log2}, rate: {from: 1M, to: 10M, step: 1M}}\n")
	f.Add("campaign: x\ntests: {a: {test: ping}}\nfactors: {? [a] : b}")
	f.Add(strings.Repeat("- ", 1000))
	f.Add(strings.Repeat("[", 1000))
	f.Add(strings.Repeat("? ", 1000))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Parse("p.yaml", []byte(text))
		if err != nil {
			if measure.KindOf(err) != measure.KindFile {
				t.Errorf("%v has kind %s", err, measure.KindOf(err))
			}
			return
		}
		if len(p.AllPatterns()) == 0 || p.Trials() == 0 {
			t.Error("a plan without trials")
		}
		for range schedule.Blocks(p, "c", 1) {
			break
		}
		advice.EstimateOf(p, nil)
	})
}

func TestNamesMayBeInAnyLetters(t *testing.T) {
	text := "campaign: 回線比較\nendpoints: {サーバー: {address: 10.0.0.1}}\nto: サーバー\nfactors: {ゲートウェイ: [{name: 標準, options: {rate: 10M}}, {name: 高性能, options: {rate: 20M}}]}\ntests: {スループット: {test: tcp}}\n"
	p, err := plan.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.AllPatterns()[1].Name; got != "高性能" {
		t.Errorf("pattern is %q", got)
	}
	for _, name := range []string{"回線/比較", "..", "回 線", strings.Repeat("線", 65)} {
		if _, err := plan.Parse("p.yaml", []byte(strings.Replace(text, "回線比較", "'"+name+"'", 1))); measure.KindOf(err) != measure.KindFile {
			t.Errorf("campaign %q: %v", name, err)
		}
	}
}
