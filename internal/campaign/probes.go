package campaign

import "soku/internal/measure"

// mostProbed is how many pairs of a pattern are probed at most: of more pairs each end is in a
// probe, but not each pair.
const mostProbed = 400

// Probes are trials of one message each that check, before a run, that clients can be
// started and reach their servers, each pair of ends once, and that the systems there allow
// what the tests need: to pin threads, and the sockets of tests without a server. What a
// command or a person sets up first is not checked, and servers of other programs are left
// alone: some serve one test and end.
func Probes(p *Plan, only Selection) []Job {
	var out []Job
	seen := map[probeEnds]bool{}
	for i := range p.AllPatterns() {
		pt := &p.AllPatterns()[i]
		if !only.Matches(pt.Levels) || len(pt.Before) > 0 || len(p.HandLevels(pt)) > 0 {
			continue
		}
		s := p.sides(pt)
		for n := range pt.Tests {
			t := &pt.Tests[n]
			if t.Test.NeedsServer() && !ofOwnServer(t.Test, t.Options) {
				continue
			}
			for _, pair := range probed(&s) {
				j := probe(t, s.clients[pair[0]], s.servers[pair[1]])
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

// probe is a round trip between two ends as a test goes there, or one packet of a test
// without a server.
func probe(t *PatternTest, client, server Target) Job {
	asked := t.between(client, server)
	test, o := t.Test, asked
	if test.NeedsServer() {
		test, o = measure.TestLatency, measure.Defaults(measure.TestLatency)
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
func probed(s *sides) [][2]int32 {
	if len(s.pairs) <= mostProbed {
		return s.pairs
	}
	var out [][2]int32
	clients, servers := newBitset(len(s.clients)), newBitset(len(s.servers))
	drawn := shuffledPairs(s.pairs, 0, 0, 0) // not all probes at one server
	for _, both := range []bool{true, false} {
		for _, pair := range drawn {
			known, answers := clients.has(int(pair[0])), servers.has(int(pair[1]))
			if known && answers || both && (known || answers) {
				continue
			}
			clients.set(int(pair[0]))
			servers.set(int(pair[1]))
			out = append(out, pair)
		}
	}
	return out
}

// probeEnds is what distinguishes probes: of a test without a server, whose probe is for the
// rights of the client, not the server.
type probeEnds struct {
	ends
	test    measure.Test
	port    int
	bind    string
	device  string
	version int
	timeout measure.Duration
	pin     string
}

func endsOfProbe(j Job) probeEnds {
	if !j.Test.NeedsServer() {
		return probeEnds{ends: ends{client: j.Client.Reference()}, test: j.Test}
	}
	return probeEnds{j.ends(), j.Test, j.Options.Port, j.Options.Bind, j.Options.Device, j.Options.IPVersion, j.Options.ConnectTimeout, j.Options.Pin}
}
