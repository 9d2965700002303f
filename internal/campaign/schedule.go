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
	Result  string // identity of the result, made before the trial starts; empty in a schedule
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
// every version. Of a plan with find they are not known before it runs, see [Campaign.Blocks].
func (p *Plan) Blocks(campaignID string, seed int64) iter.Seq[Block] {
	return p.blocks(campaignID, seed, p.LastRound)
}

// blocks asks for the number of rounds after each, because rounds can be added
// while a campaign runs.
func (p *Plan) blocks(campaignID string, seed int64, rounds func() int) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for round := 1; round <= rounds(); round++ {
			kinds := p.kinds(round)
			for turn, number := range p.order(seed, round) {
				s := scheduled{plan: p, campaign: campaignID, seed: seed, round: round, turn: turn, kinds: kinds}
				if !yield(s.block(number)) {
					return
				}
			}
		}
	}
}

// scheduled is where a block stands in the campaign.
type scheduled struct {
	plan     *Plan
	campaign string
	seed     int64
	round    int
	turn     int // in the round, from 0
	kinds    []kind
}

// block is a pattern's turn in a round: repeat by repeat all tests in the plan's order,
// each for all pairs. The order of the pairs is drawn anew for each block.
func (s scheduled) block(number int) Block {
	p, pt := s.plan, &s.plan.patterns[number]
	e := p.sides(pt)
	pairs := shuffledPairs(e.pairs, s.seed, s.round, number)
	b := Block{Round: s.round, Pattern: pt, Len: len(s.kinds) * len(pairs)}
	host := make([]int, len(e.machines)) // in the block, from 1: those that come first may start first
	at := func(machine int32) int {
		if host[machine] == 0 {
			b.Hosts = append(b.Hosts, e.machines[machine])
			host[machine] = len(b.Hosts)
		}
		return host[machine] - 1
	}
	for _, pair := range pairs {
		at(e.clientOn[pair[0]])
		at(e.serverOn[pair[1]])
	}
	b.Slot = func(i int) Slot {
		pair := pairs[i%len(pairs)]
		slot := Slot{Client: at(e.clientOn[pair[0]]), Server: at(e.serverOn[pair[1]])}
		if pt.together {
			slot.Group = i/len(pairs) + 1
		}
		return slot
	}
	b.Job = func(i int) Job {
		k, pair := s.kinds[i/len(pairs)], pairs[i%len(pairs)]
		t, client, server := &pt.Tests[k.test], e.clients[pair[0]], e.servers[pair[1]]
		return Job{
			Trial: measure.Trial{
				Campaign: s.campaign, Name: p.Campaign, Pattern: pt.Name, Levels: pt.Levels, Label: t.Label,
				Round: s.round, Repeat: k.repeat, Order: s.turn*b.Len + i + 1, Seed: s.seed,
				Pair: &measure.Pair{Client: client.Endpoint, Server: server.Endpoint},
			},
			Test: t.Test, Options: t.between(client, server), Client: client, Server: server,
		}
	}
	return b
}

// shuffledPairs are the pairs in an order drawn from the seed, the round and the number
// of the pattern.
func shuffledPairs(pairs [][2]int32, seed int64, round, pattern int) [][2]int32 {
	if len(pairs) == 1 {
		return pairs
	}
	out := make([][2]int32, len(pairs))
	for i, n := range shuffled(len(pairs), seed, round+(pattern+1)<<32) {
		out[i] = pairs[n]
	}
	return out
}

// shuffled is a permutation of 0..n-1 (Fisher and Yates, after Durstenfeld). It
// is written out so that no library changes the order of a recorded seed; the
// PCG generator's numbers are fixed by its definition.
func shuffled(n int, seed int64, of int) []int {
	g := mathrand.NewPCG(uint64(seed), uint64(of))
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
