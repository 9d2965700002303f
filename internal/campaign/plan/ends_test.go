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
