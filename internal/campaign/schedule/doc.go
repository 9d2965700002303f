// Package schedule makes the trials of a plan and their order. All of it is pure: the same
// plan, seed and hosts give the same trials in the same order.
//
//	for block := range schedule.Blocks(p, campaignID, seed) {
//		for job := range block.Jobs() {
//			...
//		}
//	}
//
// A [Block] is a pattern's turn in a round: trials with the hosts that they occupy. A [Queue]
// chooses which trial of a block starts when hosts come free, [Arrange] an order for few hosts,
// and [Forecast] says how long a block takes. [Probes] are the trials that check hosts before a
// run. The package runs nothing, measures no time and starts no goroutines.
//
// docs/reference/plan.md specifies the order of trials.
package schedule
