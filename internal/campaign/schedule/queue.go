package schedule

import (
	"iter"
	"math/bits"
	mathrand "math/rand/v2"
	"slices"

	"soku/internal/campaign/bitset"
)

// Unit is what starts at one moment: a trial, or a group of trials.
type Unit struct {
	First, Count int    // its trials, which follow each other in the block
	pair         [2]int // hosts of the first trial; twice the same if it is one
	rest         []int  // further hosts, each once
}

// Hosts are the hosts that the unit occupies, each once.
func (u *Unit) Hosts() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !yield(u.pair[0]) || u.pair[1] != u.pair[0] && !yield(u.pair[1]) {
			return
		}
		for _, h := range u.rest {
			if !yield(h) {
				return
			}
		}
	}
}

// Occupies reports whether the unit occupies a host.
func (u *Unit) Occupies(host int) bool {
	return u.pair[0] == host || u.pair[1] == host || slices.Contains(u.rest, host)
}

func (u *Unit) occupy(host int) {
	if !u.Occupies(host) {
		u.rest = append(u.rest, host)
	}
}

// Unit is the unit that begins with a trial of the block.
func (b Block) Unit(first int) Unit {
	s := b.Slot(first)
	u := Unit{First: first, Count: 1, pair: [2]int{s.Client, s.Server}}
	for _, h := range s.Others {
		u.occupy(h)
	}
	for i := first + 1; s.Group != 0 && i < b.Len; i++ {
		o := b.Slot(i)
		if o.Group != s.Group {
			break
		}
		u.Count++
		u.occupy(o.Client)
		u.occupy(o.Server)
		for _, h := range o.Others {
			u.occupy(h)
		}
	}
	return u
}

// Queue holds the units of a block that wait for their hosts, and chooses which
// one starts next. No unit waits for others of its turn: whenever hosts come
// free, the free host with most trials left gets its free partner with most
// trials left. Choosing that way keeps all hosts busy to the end, where fixed
// turns of disjoint pairs leave everybody waiting for the slowest of each turn.
//
// Trials between two hosts, of which a mesh has n times n-1, are kept by pair:
// a bit in partners and a list of trial numbers. To choose takes two passes over
// the bits of free hosts, so 1,000 hosts (999,000 trials) are planned in a
// fraction of a second. Groups, and trials that occupy more hosts, are few and
// kept in a list.
type Queue struct {
	block   Block
	inOrder bool
	draw    *mathrand.Rand // chooses among hosts with as many trials left; nil: the first
	Waiting int            // trials

	left []int // trials waiting, by host
	busy bitset.Set
	gone bitset.Set
	free bitset.Set // neither busy nor gone
	// fresh are free hosts that may have a free partner. All other free hosts have
	// none until another host comes free.
	fresh    bitset.Set
	partners []bitset.Set // hosts with which a host shares a waiting trial
	// The trials of a pair are a ring in the block's order: last has the last one of
	// each pair and next the one after it, which of the last is the first.
	last pairTable
	next []int32
	list []int // first trials of all other units, in the block's order
}

// NewQueue makes the queue for units of a block. With inOrder the first unit
// whose hosts are free is chosen, in the order in which they were added.
func NewQueue(b Block, inOrder bool) *Queue {
	n := len(b.Hosts)
	q := &Queue{block: b, inOrder: inOrder, left: make([]int, n), busy: bitset.New(n), gone: bitset.New(n), free: bitset.New(n), fresh: bitset.New(n)}
	for h := range n {
		q.free.Add(h)
	}
	if !inOrder {
		q.partners, q.last, q.next = make([]bitset.Set, n), newPairTable(n), make([]int32, b.Len)
		words := make(bitset.Set, n*len(q.free)) // one piece of memory for all rows
		for h := range n {
			q.partners[h] = words[h*len(q.free) : (h+1)*len(q.free)]
		}
	}
	return q
}

// Add lets the unit wait that begins with a trial. Units are added in the
// block's order, or with inOrder in any.
func (q *Queue) Add(first int) { q.add(first, q.block.Slot(first)) }

func (q *Queue) add(first int, s Slot) {
	if q.inOrder || s.Group != 0 || len(s.Others) > 0 {
		q.list = append(q.list, first)
		q.count(q.block.Unit(first), 1)
		return
	}
	q.Waiting++
	q.left[s.Client]++
	if s.Server != s.Client {
		q.left[s.Server]++
	}
	q.refresh(s.Client)
	q.refresh(s.Server)
	if !q.partners[s.Client].Has(s.Server) {
		q.partners[s.Client].Add(s.Server)
		q.partners[s.Server].Add(s.Client)
		q.next[first] = int32(first)
	} else {
		last := q.last.get(s.Client, s.Server)
		q.next[first], q.next[last] = q.next[last], int32(first)
	}
	q.last.set(s.Client, s.Server, int32(first))
}

// count adds a unit to, or with sign -1 takes it from, what hosts have left.
func (q *Queue) count(u Unit, sign int) {
	q.Waiting += sign * u.Count
	for h := range u.Hosts() {
		q.left[h] += sign * u.Count
	}
}

// Take chooses a unit of at most room trials whose hosts are all free and
// occupies them. There is none if ok is false.
func (q *Queue) Take(room int) (u Unit, ok bool) {
	if u, ok = q.takeListed(room); !ok && room > 0 && !q.inOrder {
		u, ok = q.takePair()
	}
	if ok {
		for h := range u.Hosts() {
			q.busy.Add(h)
			q.refresh(h)
		}
	}
	return u, ok
}

func (q *Queue) takeListed(room int) (Unit, bool) {
	for i, first := range q.list {
		u := q.block.Unit(first)
		if u.Count > room || !q.allFree(u) {
			continue
		}
		if i == 0 {
			q.list = q.list[1:]
		} else {
			q.list = slices.Delete(q.list, i, i+1)
		}
		q.count(u, -1)
		return u, true
	}
	return Unit{}, false
}

// WantsBusyHosts reports whether a unit waits that has a host free, and another one busy.
// Of a queue with inOrder.
func (q *Queue) WantsBusyHosts() bool {
	return slices.ContainsFunc(q.list, func(first int) bool {
		free, busy := false, false
		u := q.block.Unit(first)
		for h := range u.Hosts() {
			free, busy = free || q.free.Has(h), busy || q.busy.Has(h)
		}
		return free && busy
	})
}

func (q *Queue) allFree(u Unit) bool {
	for h := range u.Hosts() {
		if !q.free.Has(h) {
			return false
		}
	}
	return true
}

func (q *Queue) takePair() (Unit, bool) {
	for {
		a := q.most(q.fresh, q.free)
		if a < 0 {
			return Unit{}, false
		}
		if b := q.most(q.partners[a], q.free); b >= 0 {
			return q.pop(a, b), true
		}
		q.fresh.Remove(a)
	}
}

// most is the member of both sets with most trials left, or -1 if there is none. Of several, it
// is the first, or one that is drawn.
func (q *Queue) most(a, b bitset.Set) int {
	best, left, alike := -1, 0, 0
	for i, word := range a {
		for word &= b[i]; word != 0; word &= word - 1 {
			h := i*64 + bits.TrailingZeros64(word)
			switch {
			case q.left[h] > left:
				best, left, alike = h, q.left[h], 1
			case q.draw != nil && q.left[h] == left && left > 0:
				if alike++; q.draw.IntN(alike) == 0 {
					best = h
				}
			}
		}
	}
	return best
}

// pop takes the first waiting trial of a pair.
func (q *Queue) pop(a, b int) Unit {
	last := q.last.get(a, b)
	first := q.next[last]
	if first == last {
		q.forget(a, b)
	} else {
		q.next[last] = q.next[first]
	}
	q.Waiting--
	q.left[a]--
	if b != a {
		q.left[b]--
	}
	return Unit{First: int(first), Count: 1, pair: [2]int{a, b}} // as of Block.Unit, which would ask for the trial's slot
}

// forget drops the waiting trials of a pair.
func (q *Queue) forget(a, b int) {
	q.partners[a].Remove(b)
	q.partners[b].Remove(a)
}

// Release gives the hosts of a unit free.
func (q *Queue) Release(u Unit) {
	for h := range u.Hosts() {
		q.busy.Remove(h)
		q.refresh(h)
	}
}

// refresh works out whether a host is free.
func (q *Queue) refresh(h int) {
	if q.busy.Has(h) || q.gone.Has(h) {
		q.free.Remove(h)
		q.fresh.Remove(h)
		return
	}
	q.free.Add(h)
	q.fresh.Add(h)
}

// Lose takes a host out that went away, and returns the trials that can no
// longer run. Units that run are not touched.
func (q *Queue) Lose(h int) []int {
	q.gone.Add(h)
	q.refresh(h)
	var lost []Unit
	q.list = slices.DeleteFunc(q.list, func(first int) bool {
		u := q.block.Unit(first)
		if !u.Occupies(h) {
			return false
		}
		lost = append(lost, u)
		return true
	})
	if !q.inOrder {
		for other := range q.partners[h].All() {
			last := q.last.get(h, other)
			for i := q.next[last]; ; i = q.next[i] {
				lost = append(lost, q.block.Unit(int(i)))
				if i == last {
					break
				}
			}
			q.forget(h, other)
		}
	}
	var trials []int
	for _, u := range lost {
		q.count(u, -1)
		for i := range u.Count {
			trials = append(trials, u.First+i)
		}
	}
	slices.Sort(trials)
	return trials
}

// Restore takes a host in again that came back. What waited for it when it went
// away does not come back.
func (q *Queue) Restore(h int) {
	q.gone.Remove(h)
	q.refresh(h)
}
