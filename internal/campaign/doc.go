// Package campaign turns a plan into a schedule, runs it through a [Runner], and
// writes a journal that survives a kill at any moment.
//
// A plan ([Load]) names factors and their levels; their combinations are the
// patterns. The schedule ([Campaign.Blocks]) is pure and made as it is read: in
// each round every pattern has its turn, a [Block], in an order drawn from the
// plan's seed, so that the time of day does not become a level. With find or until what
// follows also depends on the results so far, but on no other state. The [Executor]
// starts whatever trial of the block has all its hosts free, up to a limit, and a
// group of trials at one barrier. The journal ([Journals]) is an append-only
// record that is synced after each entry; the store is filled from it.
//
// The package measures nothing itself and knows no network: a Runner does, in
// this process or in another, see [Places].
//
// Goroutines: [Executor.Run] starts one for each trial that runs and waits for
// all. Everything else runs on the caller's.
//
// docs/reference/plan.md specifies the plan, its patterns, the order of trials
// and the journal; docs/reference/plan.schema.json is the plan as JSON Schema.
package campaign
