package schedule

import (
	"iter"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// Block is a pattern's turn in a round: the trials between its commands. Its
// trials are made when they are asked for, so that a block can have a million.
type Block struct {
	Round   int
	Pattern *plan.Pattern
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

// Blocks are the plan's rounds in the order in which they run, whatever is to be
// run now: in each round all patterns, in an order drawn from seed and round alone;
// patterns that need the same levels of factors that are changed by hand follow each
// other. The same plan and seed give the same order on every machine and in every
// version. The blocks of a plan with find depend on results and are not among them.
func Blocks(p *plan.Plan, campaignID string, seed int64) iter.Seq[Block] {
	return GrowingBlocks(func(int) *plan.Plan { return p }, campaignID, seed, p.LastRound)
}

// GrowingBlocks is Blocks for as many rounds as rounds returns, which it calls after each:
// rounds can be added while a campaign runs. planOf returns the plan of a round.
func GrowingBlocks(planOf func(round int) *plan.Plan, campaignID string, seed int64, rounds func() int) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for number := 1; number <= rounds(); number++ {
			p := planOf(number)
			r := NewRound(p, campaignID, seed, number)
			for turn, pattern := range order(p, seed, number) {
				if !yield(r.Block(turn, pattern)) {
					return
				}
			}
		}
	}
}

// Block is a pattern's turn in a round: repeat by repeat all tests in the plan's order,
// each for all pairs of the pattern. The order of the pairs is drawn anew for each block. turn is the place
// of the block in the round, from 0, and pattern the index of the pattern in the plan.
func (r Round) Block(turn, pattern int) Block {
	p, pt := r.Plan, &r.Plan.AllPatterns()[pattern]
	e := p.EndpointSets(pt)
	pairs := shuffledPairs(e.Pairs, r.Seed, r.Number, pattern)
	b := Block{Round: r.Number, Pattern: pt, Len: len(r.Tests) * len(pairs)}
	host := make([]int, len(e.Machines)) // in the block, from 1: those that come first may start first
	at := func(machine int32) int {
		if host[machine] == 0 {
			b.Hosts = append(b.Hosts, e.Machines[machine])
			host[machine] = len(b.Hosts)
		}
		return host[machine] - 1
	}
	for _, pair := range pairs {
		at(e.ClientOn[pair[0]])
		at(e.ServerOn[pair[1]])
	}
	b.Slot = func(i int) Slot {
		pair := pairs[i%len(pairs)]
		slot := Slot{Client: at(e.ClientOn[pair[0]]), Server: at(e.ServerOn[pair[1]])}
		if pt.Together {
			slot.Group = i/len(pairs) + 1
		}
		return slot
	}
	b.Job = func(i int) Job {
		test, pair := r.Tests[i/len(pairs)], pairs[i%len(pairs)]
		t, client, server := &pt.Tests[test.Test], e.Clients[pair[0]], e.Servers[pair[1]]
		return Job{
			Trial: measure.Trial{
				Campaign: r.Campaign, Name: p.Campaign, Pattern: pt.Name, Levels: pt.Levels, Label: t.Label,
				Round: r.Number, Repeat: test.Repeat, Order: turn*len(r.Tests)*p.PairCount() + i + 1, Seed: r.Seed,
				Pair: &measure.Pair{Client: client.Endpoint, Server: server.Endpoint},
			},
			Test: t.Test, Options: t.OptionsBetween(client, server), Client: client, Server: server,
		}
	}
	return b
}
