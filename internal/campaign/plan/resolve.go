package plan

import "soku/internal/measure"

// Resolve fills in the addresses that the plan leaves to its lab. lookup
// returns the address of a host of the lab with a label, or its first one for
// an empty label. An error names the place in the plan, the pattern and the endpoint.
func (p *Plan) Resolve(lookup func(host, label string) (string, error)) error {
	p.resolved = map[string]string{}
	done := map[[2]string]bool{} // labels that patterns set in addition to pairs
	for i := range p.patterns {
		pt := &p.patterns[i]
		labels := [2]string{pt.fromLabel, pt.toLabel}
		if p.paired != nil && done[labels] {
			continue
		}
		done[labels] = true
		s := p.EndpointSets(pt)
		clients, servers := s.used()
		if err := p.resolve(pt, pt.fromAt, s.Clients, clients, lookup); err != nil {
			return err
		}
		if err := p.resolve(pt, pt.toAt, s.Servers, servers, lookup); err != nil {
			return err
		}
	}
	return nil
}

// resolve is Resolve for the targets of one side of a pattern; at is what sets it.
func (p *Plan) resolve(pt *Pattern, at string, all []Target, used []int, lookup func(host, label string) (string, error)) error {
	for _, i := range used {
		t := all[i]
		if t.Host == "" || t.Endpoint.Address != "" || p.resolved[t.Reference()] != "" {
			continue
		}
		address, err := lookup(t.Host, t.Endpoint.Label)
		if err != nil {
			wrong := measure.Fail(measure.KindFile, "campaign.endpoint_address", measure.Figures{"endpoint": t.Reference(), "cause": err})
			return p.inPattern(p.source, pt, at, wrong)
		}
		p.resolved[t.Reference()] = address
	}
	return nil
}
