package campaign

import (
	"crypto/rand"
	"encoding/binary"
	"iter"
	"math/bits"
	mathrand "math/rand/v2"

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

// Block is a pattern's turn in a round: the trials between its commands. Its
// trials are made when they are asked for, so that a block can have a million.
type Block struct {
	Round   int
	Pattern *Pattern
	// Hosts are the machines that the block's trials occupy, each once. The empty
	// name is this machine.
	Hosts []string
	// Len is how many trials there are. Slot and Job describe each, from 0 to Len-1
	// in the planned order; both return the same for one i whenever they are called.
	Len  int
	Slot func(i int) Slot
	Job  func(i int) Job
}

// Slot is what has to be known of a trial to decide when it can start.
type Slot struct {
	// Client and Server are the hosts of its ends, as indices of Block.Hosts. They
	// are the same where both ends are on one machine.
	Client, Server int
	// Others are further hosts that the trial occupies.
	Others []int
	// Group is 0 for a trial that starts by itself. Trials that start together have
	// the same number, which no others of the block have, and follow each other.
	Group int
}

// Jobs are the trials of the block in the planned order.
func (b Block) Jobs() iter.Seq[Job] {
	return func(yield func(Job) bool) {
		for i := range b.Len {
			if !yield(b.Job(i)) {
				return
			}
		}
	}
}

// DrawSeed returns a seed for a plan that has none. It is below 2^53, so that
// every JSON reader keeps it whole.
func DrawSeed() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 11)
}

// Blocks are the plan's rounds in the order in which they run, whatever is to be
// run now: in each round all patterns, in an order drawn from seed and round
// alone, see [Plan.order] for factors that are changed by hand. The same plan and seed give the same order on every machine and in
// every version.
func (p *Plan) Blocks(campaignID string, seed int64) iter.Seq[Block] {
	return p.blocks(campaignID, seed, func() int { return p.Rounds })
}

// blocks asks for the number of rounds after each, because rounds can be added
// while a campaign runs.
func (p *Plan) blocks(campaignID string, seed int64, rounds func() int) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for round := 1; round <= rounds(); round++ {
			for turn, i := range p.order(seed, round) {
				if !yield(p.block(campaignID, seed, round, turn, &p.patterns[i])) {
					return
				}
			}
		}
	}
}

// block is a pattern's turn in a round, counted from 0: all tests in the plan's
// order, repeat by repeat.
func (p *Plan) block(campaignID string, seed int64, round, turn int, pt *Pattern) Block {
	client, server := p.target(pt.From), p.target(pt.To)
	pair := &measure.Pair{Client: client.Endpoint, Server: server.Endpoint}
	b := Block{Round: round, Pattern: pt, Hosts: []string{client.Machine()}, Len: p.Repeats * len(pt.Tests)}
	slot := Slot{}
	if server.Machine() != client.Machine() {
		b.Hosts, slot.Server = append(b.Hosts, server.Machine()), 1
	}
	b.Slot = func(int) Slot { return slot }
	b.Job = func(i int) Job {
		t := pt.Tests[i%len(pt.Tests)]
		j := Job{
			Trial: measure.Trial{
				Campaign: campaignID, Name: p.Campaign, Pattern: pt.Name, Levels: pt.Levels, Label: t.Label,
				Round: round, Repeat: i/len(pt.Tests) + 1, Order: turn*b.Len + i + 1, Seed: seed, Pair: pair,
			},
			Test: t.Test, Options: t.Options, Client: client, Server: server,
		}
		if client.Endpoint.Label != "" && j.Options.Bind == "" {
			j.Options.Bind = client.Endpoint.Address // measuring from a labelled address means leaving by it
		}
		return j
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
