package campaign

import (
	"crypto/rand"
	"encoding/binary"
	"iter"
	"math/bits"
	mathrand "math/rand/v2"
	"strings"

	"soku/internal/measure"
)

// Job is one trial to run.
type Job struct {
	Trial   measure.Trial
	Test    measure.Test
	Options measure.Options // as planned; not yet effective
	Client  Target
	Server  Target
}

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

// Block is a pattern's turn in a round: its trials run one after the other
// between its commands.
type Block struct {
	Round   int
	Pattern *Pattern
	Jobs    []Job // repeat by repeat, in each all tests in the plan's order
}

// DrawSeed returns a seed for a plan that has none. It is below 2^53, so that
// every JSON reader keeps it whole.
func DrawSeed() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 11)
}

// Blocks are the whole campaign in the order in which it runs, whatever is to
// be run now: rounds, in each all patterns in an order drawn from seed and
// round alone. The same plan and seed give the same order on every machine and
// in every version.
func (p *Plan) Blocks(campaignID string, seed int64) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for round := 1; round <= p.Rounds; round++ {
			order := 0
			for _, i := range shuffled(len(p.patterns), seed, round) {
				if !yield(p.block(campaignID, seed, round, &p.patterns[i], &order)) {
					return
				}
			}
		}
	}
}

func (p *Plan) block(campaignID string, seed int64, round int, pt *Pattern, order *int) Block {
	b := Block{Round: round, Pattern: pt, Jobs: make([]Job, 0, p.Repeats*len(pt.Tests))}
	client, server := p.target(pt.From), p.target(pt.To)
	pair := &measure.Pair{Client: client.Endpoint, Server: server.Endpoint}
	for repeat := 1; repeat <= p.Repeats; repeat++ {
		for _, t := range pt.Tests {
			*order++
			j := Job{
				Trial: measure.Trial{
					Campaign: campaignID, Name: p.Campaign, Pattern: pt.Name, Levels: pt.Levels, Label: t.Label,
					Round: round, Repeat: repeat, Order: *order, Seed: seed, Pair: pair,
				},
				Test: t.Test, Options: t.Options, Client: client, Server: server,
			}
			if client.Endpoint.Label != "" && j.Options.Bind == "" {
				j.Options.Bind = client.Endpoint.Address // measuring from a labelled address means leaving by it
			}
			b.Jobs = append(b.Jobs, j)
		}
	}
	return b
}

// Trials is how many trials the whole campaign has.
func (p *Plan) Trials() int { return len(p.patterns) * len(p.Tests) * p.Repeats * p.Rounds }

// shuffled is a permutation of 0..n-1 (Fisher and Yates, after Durstenfeld). It
// is written out so that no library changes the order of a recorded seed; the
// PCG generator's numbers are fixed by its definition.
func shuffled(n int, seed int64, round int) []int {
	g := mathrand.NewPCG(uint64(seed), uint64(round))
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j, _ := bits.Mul64(g.Uint64(), uint64(i+1)) // even to within i/2^64
		out[i], out[j] = out[j], out[i]
	}
	return out
}

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
// an empty label. An error names the endpoint.
func (p *Plan) Resolve(lookup func(host, label string) (string, error)) error {
	p.resolved = map[string]string{}
	for _, pt := range p.patterns {
		for _, ref := range []string{pt.From, pt.To} {
			t := p.target(ref)
			if ref == "" || t.Host == "" || t.Endpoint.Address != "" {
				continue
			}
			address, err := lookup(t.Host, t.Endpoint.Label)
			if err != nil {
				e := measure.AsError(err, measure.KindFile)
				return measure.Errorf(measure.KindFile, "%s: endpoint %s: %s", p.File, ref, e.Message).WithHint("%s", e.Hint)
			}
			p.resolved[ref] = address
		}
	}
	return nil
}
