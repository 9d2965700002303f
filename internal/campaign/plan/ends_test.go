package plan_test

import (
	"errors"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// interfaces is a plan of two interfaces of two instance types: the factors set the label
// of an address and the endpoint apart.
const interfaces = `campaign: interfaces
endpoints:
  onprem: {command: [ssh, onprem, soku], addresses: {vlan: 192.168.1.9, vpc: 192.168.2.9}}
  small: {address: 10.0.0.4, addresses: {vlan: 10.1.0.4, vpc: 10.2.0.4}}
  large: {address: 10.0.0.5, addresses: {vlan: 10.1.0.5, vpc: 10.2.0.5}}
from: onprem
factors:
  interface:
    - {name: VLAN, to_label: vlan}
    - {name: VPC, to_label: vpc, from_label: vpc}
  instance:
    - {name: S, to: small}
    - {name: L, to: large}
tests: {up: {test: tcp}}
`

// endsOf are the patterns of a plan with their ends.
func endsOf(p *plan.Plan) string {
	var out []string
	for _, pt := range p.AllPatterns() {
		out = append(out, pt.Name+": "+pt.From+" > "+pt.To)
	}
	return strings.Join(out, "; ")
}

func TestFactorsSetTheEndpointAndItsAddressApart(t *testing.T) {
	p := plans.Parse(t, interfaces)
	want := "VLAN / S: onprem > small.vlan; VLAN / L: onprem > large.vlan; VPC / S: onprem.vpc > small.vpc; VPC / L: onprem.vpc > large.vpc"
	if got := endsOf(p); got != want {
		t.Errorf("patterns are %s\nwant         %s", got, want)
	}
	addresses := map[string]string{}
	for b := range schedule.Blocks(p, "id", 1) {
		j := b.Job(0)
		addresses[b.Pattern.Name] = j.Server.Endpoint.Address + " " + j.Options.Bind
	}
	if addresses["VPC / L"] != "10.2.0.5 192.168.2.9" || addresses["VLAN / S"] != "10.1.0.4 " {
		t.Errorf("addresses are %v", addresses)
	}
}

// A size and a zone with a machine each: two factors choose one endpoint.
func TestSeveralFactorsChooseOneEndpoint(t *testing.T) {
	const head = `campaign: c
endpoints:
  d2-1: {address: 10.0.0.1, addresses: {vlan: 10.1.0.1}}
  d2-2: {address: 10.0.0.2, addresses: {vlan: 10.1.0.2}, port: 9000}
  d4-1: {address: 10.0.0.3, addresses: {vlan: 10.1.0.3}}
  d4-2: {address: 10.0.0.4}
  gw-1: {address: 10.0.0.5}
  gw-2: {address: 10.0.0.6}
factors: {vm: [d2, d4], zone: [1, 2]}
tests: {up: {test: tcp}}
`
	for _, c := range []struct{ text, want string }{
		{`to: "{vm}-{zone}"`, "d2 / 1:  > d2-1; d2 / 2:  > d2-2; d4 / 1:  > d4-1; d4 / 2:  > d4-2"},
		{"from: 'gw-{zone}'\nto: '{vm}-{zone}'", "d2 / 1: gw-1 > d2-1; d2 / 2: gw-2 > d2-2; d4 / 1: gw-1 > d4-1; d4 / 2: gw-2 > d4-2"},
		{"to: '{vm}-{zone}.vlan'\nexclude: [{vm: d4, zone: 2}]", "d2 / 1:  > d2-1.vlan; d2 / 2:  > d2-2.vlan; d4 / 1:  > d4-1.vlan"},
		{"to: '{vm}-{zone}'\nto_label: vlan\nexclude: [{vm: d4, zone: 2}]", "d2 / 1:  > d2-1.vlan; d2 / 2:  > d2-2.vlan; d4 / 1:  > d4-1.vlan"},
	} {
		p := plans.Parse(t, head+c.text+"\n")
		if got := endsOf(p); got != c.want {
			t.Errorf("%s\npatterns are %s\nwant         %s", c.text, got, c.want)
		}
		if u := p.Unvaried(); len(u) != 0 {
			t.Errorf("%s: unvaried %v", c.text, u)
		}
		for b := range schedule.Blocks(p, "id", 1) {
			if j := b.Job(0); strings.HasPrefix(j.Server.Endpoint.Name, "d2-2") != (j.Options.Port == 9000) {
				t.Errorf("%s: %s at port %d", c.text, j.Server.Endpoint.Name, j.Options.Port)
			}
		}
	}
	// A level may choose, too; and a level of an option may be part of a name.
	p := plans.Parse(t, strings.Replace(head, "zone: [1, 2]}", "way: [{name: direct, to: '{vm}-1'}, {name: gateway, to: gw-1}]}", 1))
	if got, want := endsOf(p), "d2 / direct:  > d2-1; d2 / gateway:  > gw-1; d4 / direct:  > d4-1; d4 / gateway:  > gw-1"; got != want {
		t.Errorf("patterns are %s\nwant         %s", got, want)
	}
	// A level with dots names an endpoint with "-" for each, and a label is expanded apart.
	p = plans.Parse(t, `campaign: c
endpoints:
  m5-large-1: {address: 10.0.0.1, addresses: {vlan: 10.1.0.1}}
  c7g-4-xlarge-1: {address: 10.0.0.2, addresses: {vlan: 10.1.0.2, vpc: 10.2.0.2}}
factors: {vm: [m5.large, c7g.4.xlarge], zone: [1], net: [vlan, {name: vpc, when: {vm: c7g.4.xlarge}}]}
to: '{vm}-{zone}.{net}'
tests: {up: {test: tcp}}
`)
	if got, want := endsOf(p), "m5.large / 1 / vlan:  > m5-large-1.vlan; c7g.4.xlarge / 1 / vlan:  > c7g-4-xlarge-1.vlan; c7g.4.xlarge / 1 / vpc:  > c7g-4-xlarge-1.vpc"; got != want {
		t.Errorf("patterns are %s\nwant         %s", got, want)
	}
	p = plans.Parse(t, strings.NewReplacer("vm:", "vm.size:", "zone: [1, 2]", "zone: [1]").Replace(head)+"to: '{vm.size}-{zone}.vlan'\n")
	if got, want := endsOf(p), "d2 / 1:  > d2-1.vlan; d4 / 1:  > d4-1.vlan"; got != want {
		t.Errorf("patterns are %s\nwant         %s", got, want)
	}
	for _, c := range []struct{ text, place, want string }{
		{"to: '{vm}-{zome}'", "plan.yaml:11:5", `there is no factor "zome"; did you mean zone?`},
		{"to: '{vm}x{zone}'", "plan.yaml:11:5", `pattern d2 / 1: there is no endpoint "d2x1"; did you mean d2-1?`},
		{"to: '{vm}-{zone}.vlan'", "plan.yaml:11:5", "pattern d4 / 2: "},
		{"to: '{vm-{zone}'", "plan.yaml:11:5", "there is no endpoint"},
		{"pairs: {mesh: ['*']}\nto: '{vm}-{zone}'", "plan.yaml:12:5", "pairs"},
	} {
		_, err := plan.Parse("plan.yaml", []byte(head+c.text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), c.place) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", c.text, err)
		}
	}
}

func TestTheOrderOfFactorsDoesNotMatterForTheEnds(t *testing.T) {
	endpoints := "campaign: c\nendpoints: {a: {addresses: {x: 10.0.0.1, y: 10.0.0.2}}, b: {address: 10.0.1.0, addresses: {x: 10.0.1.1, y: 10.0.1.2}}}\ntests: {up: {test: tcp}}\n"
	for _, c := range []struct{ text, want string }{
		{"to: a.x\nfactors: {e: [{name: b, to: b}]}\n", "b:  > b"},
		{"to: a.x\nfactors: {l: [{name: y, to_label: y}]}\n", "y:  > a.y"},
		{"to: a.x\nfactors: {e: [{name: b, to: b}], l: [{name: y, to_label: y}]}\n", "b / y:  > b.y"},
		{"to: a.x\nfactors: {l: [{name: y, to_label: y}], e: [{name: b, to: b}]}\n", "y / b:  > b.y"},
		{"to: a\nto_label: x\nfactors: {e: [a, {name: b, to: b}]}\n", "a:  > a.x; b:  > b.x"},
		{"to: a\nto_label: x\nfactors: {e: [a, {name: b, to: b.y}]}\n", "a:  > a.x; b:  > b.y"},
		{"to: b\nfrom: a\nfrom_label: y\nfactors: {l: [y, {name: x, from_label: x}]}\n", "y: a.y > b; x: a.x > b"},
		{"from: b\nfactors: {l: [{name: both, from_label: x, to: a, to_label: y}]}\n", "both: b.x > a.y"},
	} {
		if got := endsOf(plans.Parse(t, endpoints+c.text)); got != c.want {
			t.Errorf("for\n%s\npatterns are %s, want %s", c.text, got, c.want)
		}
	}
}

func TestErrorsOfEndsNameThePlaceAndThePattern(t *testing.T) {
	change := func(old, now string) string {
		if !strings.Contains(interfaces, old) {
			t.Fatalf("the plan has no %q", old)
		}
		return strings.Replace(interfaces, old, now, 1)
	}
	for _, c := range []struct{ text, want string }{
		{change("addresses: {vlan: 10.1.0.5, vpc: 10.2.0.5}", "addresses: {vlan: 10.1.0.5}"),
			`p.yaml:10:29: factors.interface.2.to_label: pattern VPC / L: endpoint large has no address labelled "vpc"; its labels are vlan`},
		{change("addresses: {vlan: 10.1.0.5, vpc: 10.2.0.5}", "addresses: {vlan: 10.1.0.5, vcp: 10.2.0.5}"),
			`pattern VPC / L: endpoint large has no address labelled "vpc"; did you mean vcp?`},
		{change(", addresses: {vlan: 10.1.0.5, vpc: 10.2.0.5}", ""),
			`p.yaml:9:30: factors.interface.1.to_label: pattern VLAN / L: endpoint large has no address labelled "vlan"; add the label under addresses:`},
		{change("to_label: vlan", "to_label: vlna"),
			`p.yaml:9:30: factors.interface.1.to_label: no endpoint has an address labelled "vlna"; did you mean vlan?`},
		{change("to_label: vlan", "to_label: public"), `no endpoint has an address labelled "public"; labels of addresses are vlan, vpc`},
		{change("to_label: vlan", "to_lable: vlan"), `p.yaml:9:20: factors.interface.1: unknown key "to_lable"; did you mean to_label?`},
		{change("from: onprem\n", ""), `factors.interface.2.from_label: pattern VPC / S: the label "vpc" is of no endpoint: the client is this machine; add from: ENDPOINT`},
		{change("to: large", "to: large.vpc"), "factors interface and instance both set to_label in pattern VLAN / L"},
		{change("to: large", "to: large.vpc, to_label: vlan"), "factors.instance.2.to_label: the label of the address is given twice, vlan and in large.vpc"},
		{change("from: onprem\n", "from: onprem.vlan\nfrom_label: vpc\n"), "p.yaml:7:13: from_label: the label of the address is given twice, vpc and in onprem.vlan"},
		{change("to: small", "to_label: vpc"), "factors interface and instance both set to_label in pattern VLAN / S"},
		{change("from: onprem\n", "from: onprem\nto_label: lan\n"), `p.yaml:7:11: to_label: no endpoint has an address labelled "lan"; did you mean vlan?`},
	} {
		_, err := plan.Parse("p.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("for\n%s\nerror is %v\nwant     %s", c.text, err, c.want)
		}
	}
}

func TestALabelThatTheLabLacksIsReportedWithItsPlace(t *testing.T) {
	p := plans.Parse(t, `campaign: x
lab: net.yaml
endpoints: {a: {host: client}, b: {host: server}}
from: a
to: b
factors: {path: [plain, {name: vlan, to_label: vlan}]}
tests: {rtt: {test: latency}}
`)
	err := p.Resolve(func(_, label string) (string, error) {
		if label != "" {
			return "", errors.New("no such network")
		}
		return "10.0.0.1", nil
	})
	if want := "plan.yaml:6:48: factors.path.2.to_label: pattern vlan: endpoint b.vlan: no such network"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
