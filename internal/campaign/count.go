package campaign

import (
	"slices"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// counting adds up the blocks of a campaign.
type counting struct {
	*run
	out        Outcome
	planned    time.Duration
	all        int // trials of all patterns
	done       int // of them with a result, in all patterns of a search
	surrounded int // blocks that are to run between commands

	byHand  []measure.Level // of the last block that is to run
	changes int             // of them
}

// count adds up what is selected and left, for the progress that people see.
func (r *run) count() {
	r.counted = r.c.Rounds()
	n := counting{run: r, byHand: r.byHand}
	if r.searches() {
		n.searches()
	} else {
		for b := range r.schedule() {
			n.add(b)
		}
		r.allChanges = r.changes + n.changes
	}
	r.c.setTrials(n.all)
	r.mu.Lock()
	defer r.mu.Unlock()
	out := n.out
	out.Ran, out.Skipped, out.Enough = r.out.Ran, r.out.Skipped, r.out.Enough
	r.out, r.clock.planned, r.clock.blocks = out, n.planned, r.clock.blocksDone+n.surrounded
}

func (n *counting) add(b schedule.Block) {
	n.all += b.Len
	if !n.Only.Matches(b.Pattern.Levels) {
		return
	}
	n.out.Total += b.Len
	due := n.due(b, func(o outcome, done bool) {
		if done {
			n.out.Done++
		}
		if o.failed {
			n.out.Failed++
		}
	})
	for _, first := range due {
		n.planned += plannedTime(b, b.Unit(first))
	}
	if len(due) == 0 {
		return
	}
	if surrounds(b) {
		n.surrounded++
	}
	if levels := n.c.Plan.HandLevels(b.Pattern); !slices.Equal(levels, n.byHand) {
		n.byHand, n.changes = levels, n.changes+1
	}
}

func surrounds(b schedule.Block) bool { return len(b.Pattern.Before)+len(b.Pattern.After) > 0 }

// searches adds the blocks of searches that are known, and those that may follow.
func (n *counting) searches() {
	c := n.c
	for _, s := range c.search(func(b schedule.Block) bool {
		n.add(b)
		for j := range b.Jobs() {
			if _, done := c.outcome(j.Key()); done {
				n.done++
			}
		}
		return true
	}) {
		first, later := s.most(c.Plan)
		n.ahead(first-s.blocks[1], schedule.NewRound(c.Plan, "", 0, 1).Block(0, s.patterns[0]))
		for round := 2; round <= n.counted; {
			next := n.counted + 1
			if round <= c.Plan.LastRound() {
				next = min(next, round+schedule.SameTests(c.Plan, round))
			}
			blocks := (next - round) * later
			for visited := round; visited < next; visited++ {
				blocks -= s.blocks[visited]
			}
			n.ahead(blocks, schedule.NewRound(c.Plan, "", 0, round).Block(0, s.patterns[0]))
			round = next
		}
	}
	// A failed trial that was repeated can lead a search elsewhere: what it left aside counts too.
	done, _ := c.Done()
	n.all += done - n.done
}

// ahead adds blocks that are like b.
func (n *counting) ahead(blocks int, b schedule.Block) {
	n.all += blocks * b.Len
	if blocks == 0 || !n.Only.Matches(b.Pattern.Levels) {
		return
	}
	n.out.Total += blocks * b.Len
	for i := 0; i < b.Len; {
		u := b.Unit(i)
		n.planned += time.Duration(blocks) * plannedTime(b, u)
		i += u.Count
	}
	if surrounds(b) {
		n.surrounded += blocks
	}
}

// recordTrials records how many trials the campaign has, where searches ended earlier than
// they could.
func (r *run) recordTrials() error {
	if !r.searches() {
		return nil
	}
	r.count()
	if trials := r.c.Trials(); trials != r.c.recordedTrials() {
		return r.c.write(journal.Record{Kind: journal.RecordTrialsCounted, At: r.Now().UTC(), Trials: trials})
	}
	return nil
}
