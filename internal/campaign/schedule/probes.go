package schedule

import (
	"soku/internal/campaign/bitset"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// mostProbed is how many pairs of a pattern are probed at most: of more pairs each end is in a
// probe, but not each pair.
const mostProbed = 400

// Probes are trials of one message each that check, before a run, that clients can be
// started and reach their servers, each pair of ends once, and that the systems there allow
// what the tests need: to pin threads, and the sockets of tests without a server. What a
// command or a person sets up first is not checked, and servers of other programs are left
// alone: some serve one test and end.
func Probes(p *plan.Plan, only plan.Selection) []Job {
	var out []Job
	seen := map[probeEnds]bool{}
	for i := range p.AllPatterns() {
		pt := &p.AllPatterns()[i]
		if !only.Matches(pt.Levels) || len(pt.Before) > 0 || len(p.HandLevels(pt)) > 0 {
			continue
		}
		s := p.EndpointSets(pt)
		for n := range pt.Tests {
			t := &pt.Tests[n]
			if option.HasServer(t.Test) && !plan.NeedsOwnServer(t.Test, t.Options) {
				continue
			}
			for _, pair := range probed(&s) {
				j := probe(t, s.Clients[pair[0]], s.Servers[pair[1]])
				if asked := endsOfProbe(j); !seen[asked] {
					seen[asked] = true
					j.Trial.Name, j.Trial.Pattern, j.Trial.Levels = p.Campaign, pt.Name, pt.Levels
					out = append(out, j)
				}
			}
		}
	}
	return out
}

// ProbeOf is a round trip between the ends of a job, as its test goes there.
func ProbeOf(j Job) Job {
	test, o := measure.TestLatency, option.Defaults(measure.TestLatency)
	o.Port, o.Bind, o.Device, o.IPVersion = j.Options.Port, j.Options.Bind, j.Options.Device, j.Options.IPVersion
	o.ConnectTimeout, o.Duration, o.Count = j.Options.ConnectTimeout, 0, 1
	return Job{Test: test, Options: o, Client: j.Client, Server: j.Server, Trial: measure.Trial{Label: j.Trial.Label, Name: j.Trial.Name, Pattern: j.Trial.Pattern, Round: 1, Repeat: 1, Order: 1}}
}

// probe is a round trip between two ends as a test goes there, or one packet of a test
// without a server.
func probe(t *plan.PatternTest, client, server plan.Target) Job {
	asked := t.OptionsBetween(client, server)
	test, o := t.Test, asked
	if option.HasServer(test) {
		test, o = measure.TestLatency, option.Defaults(measure.TestLatency)
		o.Port, o.Bind, o.Device, o.IPVersion = asked.Port, asked.Bind, asked.Device, asked.IPVersion
		o.ConnectTimeout, o.Pin = asked.ConnectTimeout, asked.Pin
	}
	o.Duration, o.Count = 0, 1
	return Job{Test: test, Options: o, Client: client, Server: server, Trial: measure.Trial{
		Label: t.Label, Round: 1, Repeat: 1, Order: 1, Pair: &measure.Pair{Client: client.Endpoint, Server: server.Endpoint},
	}}
}

// probed are the pairs to check: all, or of very many as few as it takes for each client
// to start once and for each server to answer once.
func probed(s *plan.EndpointSets) [][2]int32 {
	if len(s.Pairs) <= mostProbed {
		return s.Pairs
	}
	var out [][2]int32
	clients, servers := bitset.New(len(s.Clients)), bitset.New(len(s.Servers))
	drawn := shuffledPairs(s.Pairs, 0, 0, 0) // not all probes at one server
	for _, both := range []bool{true, false} {
		for _, pair := range drawn {
			known, answers := clients.Has(int(pair[0])), servers.Has(int(pair[1]))
			if known && answers || both && (known || answers) {
				continue
			}
			clients.Add(int(pair[0]))
			servers.Add(int(pair[1]))
			out = append(out, pair)
		}
	}
	return out
}

// probeEnds is what distinguishes probes: of a test without a server, whose probe is for the
// rights of the client, not the server.
type probeEnds struct {
	EndpointPair
	test    measure.Test
	port    int
	bind    string
	device  string
	version int
	timeout measure.Duration
	pin     string
}

func endsOfProbe(j Job) probeEnds {
	if !option.HasServer(j.Test) {
		return probeEnds{EndpointPair: EndpointPair{Client: j.Client.Reference()}, test: j.Test}
	}
	return probeEnds{j.Endpoints(), j.Test, j.Options.Port, j.Options.Bind, j.Options.Device, j.Options.IPVersion, j.Options.ConnectTimeout, j.Options.Pin}
}
