package campaign

import (
	"cmp"
	"strings"

	"soku/internal/measure"
)

// Target is an endpoint as a trial uses it.
type Target struct {
	Endpoint measure.Endpoint // name, label and address as the plan says; empty for this machine
	Host     string           // host of the lab, or empty
	Command  []string         // what starts soku there, or nil
}

// Reference is "endpoint" or "endpoint.label" as plans write it; empty for this
// machine.
func (t Target) Reference() string {
	if t.Endpoint.Label == "" {
		return t.Endpoint.Name
	}
	return t.Endpoint.Name + "." + t.Endpoint.Label
}

// Machine names the machine that the endpoint is, for what may not run on one
// machine at a time: endpoints that differ only in the address have the same.
func (t Target) Machine() string { return cmp.Or(t.Host, t.Endpoint.Name) }

// target is the endpoint behind "name" or "name.label"; the zero Target, this
// machine, for an empty reference.
func (p *Plan) target(ref string) Target {
	if ref == "" {
		return Target{}
	}
	name, label, _ := strings.Cut(ref, ".")
	e, _ := p.Endpoints.Get(name)
	t := Target{Endpoint: measure.Endpoint{Name: name, Label: label, Address: e.Address}, Host: e.Host, Command: e.Command}
	if label != "" {
		t.Endpoint.Address, _ = e.Addresses.Get(label)
	}
	if t.Endpoint.Address == "" {
		t.Endpoint.Address = p.resolved[ref]
	}
	return t
}

// Resolve fills in the addresses that the plan leaves to its lab. lookup
// returns the address of a host of the lab with a label, or its first one for
// an empty label. An error names the place in the plan, the pattern and the endpoint.
func (p *Plan) Resolve(lookup func(host, label string) (string, error)) error {
	p.resolved = map[string]string{}
	for _, pt := range p.patterns {
		for _, end := range []struct{ ref, at string }{{pt.From, pt.fromAt}, {pt.To, pt.toAt}} {
			t := p.target(end.ref)
			if end.ref == "" || t.Host == "" || t.Endpoint.Address != "" {
				continue
			}
			address, err := lookup(t.Host, t.Endpoint.Label)
			if err != nil {
				wrong := measure.Fail(measure.KindFile, "campaign.endpoint_address", measure.Figures{"endpoint": end.ref, "cause": err})
				return p.inPattern(p.source, &pt, end.at, wrong)
			}
			p.resolved[end.ref] = address
		}
	}
	return nil
}
