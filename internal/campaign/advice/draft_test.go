package advice_test

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

var (
	oneHost          = []advice.DraftHost{{Name: "vm2", Address: "10.0.1.4"}}
	twoHosts         = []advice.DraftHost{{Name: "near", Address: "10.0.1.4"}, {Name: "far", Address: "2001:db8::7"}}
	sshHosts         = []advice.DraftHost{{Name: "vm1", Address: "admin@10.0.1.4", SSH: true}, {Name: "vm2", Address: "vm2"}}
	variedStreams    = advice.DraftFactor{Name: "streams", Levels: []string{"1", "4", "16"}}
	changedByHand    = advice.DraftFactor{Name: "gateway SKU", Levels: []string{"standard", "Ultra: Performance, \"AZ\"", "true"}}
	changedByCommand = advice.DraftFactor{Name: "sku", Levels: []string{"a", "b"}, Command: "  ./set sku \"$SOKU_FACTOR_SKU\"\n  sleep 5 # {{.x}}  "}
)

func TestEveryDraftIsAPlanThatLoads(t *testing.T) {
	for name, c := range map[string]struct {
		draft    advice.Draft
		patterns int
	}{
		"one host, nothing varied": {advice.Draft{Hosts: oneHost}, 1},
		"several hosts":            {advice.Draft{Hosts: twoHosts}, 2},
		"a host by ssh":            {advice.Draft{Hosts: sshHosts[:1]}, 1},
		"hosts of both kinds":      {advice.Draft{Hosts: sshHosts}, 2},
		"an option":                {advice.Draft{Hosts: oneHost, Factors: []advice.DraftFactor{variedStreams}}, 3},
		"a person":                 {advice.Draft{Hosts: oneHost, Factors: []advice.DraftFactor{changedByHand}}, 3},
		"a command":                {advice.Draft{Hosts: oneHost, Factors: []advice.DraftFactor{changedByCommand}}, 2},
		"hosts that factors choose": {advice.Draft{Hosts: []advice.DraftHost{advice.DraftHostOf("admin@{vmsize}.z{zone}", 1)}, Factors: []advice.DraftFactor{
			{Name: "vmsize", Levels: []string{"m5.large", "m5.xlarge", "m5.2xlarge"}}, {Name: "zone", Levels: []string{"1", "2"}}, variedStreams,
		}}, 3 * 2 * 3},
		"all":                {advice.Draft{Hosts: twoHosts, Factors: []advice.DraftFactor{variedStreams, changedByHand, changedByCommand}}, 2 * 3 * 3 * 2},
		"a question":         {advice.Draft{Hosts: oneHost, Question: "Which \"SKU\": 速い?\n#no # comment \\ \x01"}, 1},
		"a file of any name": {advice.Draft{Hosts: oneHost, File: "my plan\ncampaign: y.yaml"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.draft
			d.Campaign, d.Tests, d.Rounds = "gateways", []measure.Test{measure.TestTCP, measure.TestLatency}, 7
			text, err := d.Plan()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			p, err := plan.Parse("plan.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(p.AllPatterns()) != c.patterns || p.Rounds != 7 || p.Title != d.Question || strings.Join(p.Tests.Names(), " ") != "tcp latency" {
				t.Errorf("%d patterns, want %d; title %q, tests %v\n%s", len(p.AllPatterns()), c.patterns, p.Title, p.Tests.Names(), text)
			}
			if strings.Contains(name, "choose") {
				e, _ := p.Endpoints.Get("m5-2xlarge-z2")
				if len(p.Endpoints) != 6 || e.SSH != "admin@m5.2xlarge.z2" || strings.Contains(string(text), "by: hand") {
					t.Errorf("%+v\n%s", e, text)
				}
				d.Hosts = nil
			}
			for _, h := range d.Hosts {
				if e, _ := p.Endpoints.Get(h.Name); h.SSH && e.SSH != h.Address || !h.SSH && e.Address != h.Address {
					t.Errorf("%s is %+v", h.Name, e)
				}
			}
			for _, f := range d.Factors {
				var levels []string
				for _, have := range p.Factors {
					if have.Name == f.Name {
						for _, l := range have.Value.Levels {
							levels = append(levels, l.Name)
						}
					}
				}
				if fmt.Sprint(levels) != fmt.Sprint(f.Levels) {
					t.Errorf("%s has the levels %q, want %q", f.Name, levels, f.Levels)
				}
			}
			if strings.Contains(name, "command") && (p.Before != "./set sku \"$SOKU_FACTOR_SKU\"\n  sleep 5 # {{.x}}\n") {
				t.Errorf("before is %q", p.Before)
			}
		})
	}
}

func TestADraftOfEachTestLoads(t *testing.T) {
	for _, test := range measure.Tests() {
		d := advice.Draft{File: "x.yaml", Campaign: "x", Hosts: oneHost, Tests: []measure.Test{test}, Rounds: 1}
		if text, err := d.Plan(); err != nil {
			t.Errorf("%s: %v\n%s", test, err, text)
		}
	}
}

func TestADraftThatIsNoPlanIsRefused(t *testing.T) {
	whole := advice.Draft{File: "x.yaml", Campaign: "x", Hosts: oneHost, Tests: []measure.Test{measure.TestTCP}, Rounds: 1}
	for name, change := range map[string]func(*advice.Draft){
		"no host":                           func(d *advice.Draft) { d.Hosts = nil },
		"a host of a factor without levels": func(d *advice.Draft) { d.Hosts = []advice.DraftHost{{Name: "{zone}", Address: "{zone}"}} },
		"hosts that factors choose, and others": func(d *advice.Draft) {
			d.Hosts, d.Factors = []advice.DraftHost{{Name: "{streams}", Address: "vm{streams}"}, oneHost[0]}, []advice.DraftFactor{variedStreams}
		},
		"too many hosts": func(d *advice.Draft) {
			d.Hosts = []advice.DraftHost{{Name: "{a}", Address: "vm"}}
			d.Factors = []advice.DraftFactor{{Name: "a", Levels: make([]string, 1001)}}
		},
		"no name":                 func(d *advice.Draft) { d.Campaign = "a b" },
		"no test":                 func(d *advice.Draft) { d.Tests = nil },
		"no round":                func(d *advice.Draft) { d.Rounds = -1 },
		"an address that is none": func(d *advice.Draft) { d.Hosts = []advice.DraftHost{{Name: "vm", Address: "a b"}} },
		"a factor without levels": func(d *advice.Draft) { d.Factors = []advice.DraftFactor{{Name: "sku"}} },
		"a level that is no option": func(d *advice.Draft) {
			d.Factors = []advice.DraftFactor{{Name: "streams", Levels: []string{"many"}}}
		},
		"a factor twice": func(d *advice.Draft) { d.Factors = []advice.DraftFactor{variedStreams, variedStreams} },
	} {
		d := whole
		change(&d)
		if text, err := d.Plan(); err == nil {
			t.Errorf("%s loads:\n%s", name, text)
		}
	}
}

func TestAHostIsNamedByItsAddressUnlessItHasAName(t *testing.T) {
	for text, want := range map[string]advice.DraftHost{
		"vm2=10.0.1.4": {Name: "vm2", Address: "10.0.1.4"}, " vm2 = 10.0.1.4 ": {Name: "vm2", Address: "10.0.1.4"},
		"vm2": {Name: "vm2", Address: "vm2"}, "10.0.1.4": {Name: "server3", Address: "10.0.1.4"}, "2001:db8::7": {Name: "server3", Address: "2001:db8::7"},
		"admin@10.0.1.4": {Name: "server3", Address: "admin@10.0.1.4", SSH: true}, "admin@vm2": {Name: "vm2", Address: "admin@vm2", SSH: true},
		"big = admin@vm2": {Name: "big", Address: "admin@vm2", SSH: true},
	} {
		if got := advice.DraftHostOf(text, 3); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}
