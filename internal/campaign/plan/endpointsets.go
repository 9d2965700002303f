package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// EndpointSets are the ends of a pattern's trials, by number, and which of them are pairs.
type EndpointSets struct {
	Clients, Servers []Target
	Pairs            [][2]int32 // client and server
	Machines         []string
	// ClientOn and ServerOn are the machines of clients and servers.
	ClientOn, ServerOn []int32
}

// EndpointSets of a pattern: the plan's pairs, or its one from and to.
func (p *Plan) EndpointSets(pt *Pattern) EndpointSets {
	if p.paired == nil {
		client, server := p.target(pt.From), p.target(pt.To)
		s := EndpointSets{
			Clients: []Target{client}, Servers: []Target{server}, Pairs: [][2]int32{{0, 0}},
			Machines: []string{client.Machine()}, ClientOn: []int32{0}, ServerOn: []int32{0},
		}
		if server.Machine() != client.Machine() {
			s.Machines, s.ServerOn = append(s.Machines, server.Machine()), []int32{1}
		}
		return s
	}
	r := p.paired
	s := EndpointSets{Pairs: p.pairsOf(pt), Machines: r.machines, ClientOn: r.on, ServerOn: r.on}
	s.Clients = make([]Target, len(r.members))
	for i, m := range r.members {
		s.Clients[i] = p.member(m, pt.fromLabel)
	}
	s.Servers = s.Clients
	if pt.toLabel != pt.fromLabel {
		s.Servers = make([]Target, len(r.members))
		for i, m := range r.members {
			s.Servers[i] = p.member(m, pt.toLabel)
		}
	}
	return s
}

// member is a member of pairs as a trial uses it; a label of the pattern stands in for
// its own.
func (p *Plan) member(m member, label string) Target {
	if label == "" {
		label = m.label
	}
	e := &p.Endpoints[m.endpoint]
	return p.targetOf(e.Name, label, &e.Value)
}

// numberOf is the number of an endpoint that exists.
func (p *Plan) numberOf(endpoint string) int {
	return slices.IndexFunc(p.Endpoints, func(e yamlfile.Entry[Endpoint]) bool { return e.Name == endpoint })
}

// PairCount is how many pairs the plan has: 1 for a plan without pairs.
func (p *Plan) PairCount() int {
	if p.paired == nil {
		return 1
	}
	return len(p.paired.pairs)
}

// HostCount is how many hosts the pairs of the plan are between.
func (p *Plan) HostCount() int {
	if p.paired == nil {
		return 0
	}
	return p.paired.hosts
}

// HostsInSeveralPairs is how many hosts are in more than one pair of the plan.
func (p *Plan) HostsInSeveralPairs() (several int) {
	if p.paired == nil {
		return 0
	}
	pairs := make([]int, len(p.paired.machines))
	for _, pair := range p.paired.pairs {
		for _, end := range pair {
			on := p.paired.on[end]
			if pairs[on]++; pairs[on] == 2 {
				several++
			}
		}
	}
	return several
}

// HasPairs reports whether the plan has pairs in place of one from and to.
func (p *Plan) HasPairs() bool { return p.paired != nil }

// Ends are the first pairs of a pattern in the plan's order, at most most.
func (p *Plan) Ends(pt *Pattern, most int) (clients, servers []Target) {
	s := p.EndpointSets(pt)
	for _, pair := range s.Pairs[:min(most, len(s.Pairs))] {
		clients, servers = append(clients, s.Clients[pair[0]]), append(servers, s.Servers[pair[1]])
	}
	return clients, servers
}

// Servers are the endpoints that a pattern measures against, each once.
func (p *Plan) Servers(pt *Pattern) []Target {
	s := p.EndpointSets(pt)
	_, used := s.used()
	return pick(s.Servers, used)
}

// Clients are the endpoints that a pattern measures from, each once.
func (p *Plan) Clients(pt *Pattern) []Target {
	s := p.EndpointSets(pt)
	used, _ := s.used()
	return pick(s.Clients, used)
}

// pick are the targets of these numbers.
func pick(all []Target, numbers []int) []Target {
	out := make([]Target, len(numbers))
	for i, n := range numbers {
		out[i] = all[n]
	}
	return out
}

// used are the numbers of the clients and servers that are in a pair, each once.
func (s *EndpointSets) used() (clients, servers []int) { return usedIn(s.Pairs, 0), usedIn(s.Pairs, 1) }

// usedIn are the numbers on one side of pairs, each once.
func usedIn(pairs [][2]int32, side int) (out []int) {
	seen := map[int32]bool{}
	for _, pair := range pairs {
		if n := pair[side]; !seen[n] {
			seen[n] = true
			out = append(out, int(n))
		}
	}
	return out
}

// Has reports whether a pattern has trials between a client and a server, as endpoint or
// endpoint.label.
func (s *EndpointSets) Has(client, server string) bool {
	return slices.ContainsFunc(s.Pairs, func(pair [2]int32) bool {
		return s.Servers[pair[1]].Reference() == server && s.Clients[pair[0]].Reference() == client
	})
}

// checkPairEnds sees that the ends of the pairs have the addresses that a pattern asks
// for. from and to have the labels that the plan and the levels set apart from the pairs.
func (p *Plan) checkPairEnds(d *yamlfile.File, pt *Pattern, from, to *patternEnd) error {
	labels := [2]string{from.label, to.label}
	if p.paired.checked[labels] {
		return nil
	}
	p.paired.checked[labels] = true
	for side, end := range []*patternEnd{from, to} {
		for _, i := range usedIn(p.paired.pairs, side) {
			if err := p.checkPairEnd(d, pt, end, p.paired.members[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) checkPairEnd(d *yamlfile.File, pt *Pattern, end *patternEnd, m member) error {
	e := &p.Endpoints[m.endpoint]
	switch {
	case end.label != "" && m.label != "":
		twice := measure.Fail(measure.KindFile, "campaign.pair_label_twice", measure.Figures{"reference": e.Name + "." + m.label, "label": end.label})
		return p.inPattern(d, pt, end.labelAt, twice)
	case end.label != "":
		if err := p.missingLabel(e.Name, end.label); err != nil {
			return p.inPattern(d, pt, end.labelAt, err)
		}
	case m.label == "" && end.key == "to" && !e.Value.hasAddress():
		return d.FailAt("endpoints."+e.Name, "campaign.no_address", measure.Figures{"endpoint": e.Name})
	}
	return nil
}
