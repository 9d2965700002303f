package schedule

import (
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"time"
)

// Blocks that are arranged. A mesh of 6 hosts that get their next trial whenever they come
// free leaves them idle 19 % of the time, because two that come free have only each other,
// and what is left in the end does not fit together; arranged, and with a moment to wait
// for each other, 4 %. Among more hosts some others are always free: of 20 they are idle
// 9 % of the time either way.
const (
	mostArrangedHosts  = 12
	mostArrangedTrials = 2000
	arrangements       = 64 // orders that are tried
)

// Arrange is an order of units of a block of few hosts in which they take little time, if
// each takes what length says: the best of some that are drawn. It is nil where units are
// chosen as hosts come free: among many hosts, of groups, and one at a time.
func Arrange(b Block, firsts iter.Seq[int], limit int, length func(first int) time.Duration) []int {
	if limit <= 1 || len(b.Hosts) < 3 || len(b.Hosts) > mostArrangedHosts || b.Len > mostArrangedTrials {
		return nil
	}
	units := slices.Collect(firsts)
	for _, first := range units {
		if s := b.Slot(first); s.Group != 0 || len(s.Others) > 0 {
			return nil
		}
	}
	var best []int
	var shortest time.Duration
	draw := mathrand.New(mathrand.NewPCG(uint64(b.Round), uint64(b.Len)))
	for range arrangements {
		q := NewQueue(b, false)
		q.draw = draw
		for _, first := range units {
			q.Add(first)
		}
		order := make([]int, 0, len(units))
		total, _ := simulate(q, limit, true, length, func(first int) { order = append(order, first) })
		if best == nil || total < shortest {
			best, shortest = order, total
		}
	}
	return best
}
