// Package campaign turns a plan into a schedule, runs it trial by trial through
// a [Runner], and writes a journal that survives a kill at any moment.
//
// A plan ([Load]) names factors and their levels; their combinations are the
// patterns. In each round every pattern runs once, in an order drawn from the
// plan's seed, so that the time of day does not become a level ([Plan.Blocks]).
// The journal ([Create], [Resume]) is an append-only file that is synced after
// each record; the store is filled from it. [Executor] drives the whole.
//
// The package measures nothing itself and knows no network: a Runner does, in
// this process or in another, see [Places].
//
// It starts no goroutines of its own.
//
// docs/reference/plan.md specifies the plan, its patterns, the order of trials
// and the journal; docs/reference/plan.schema.json is the plan as JSON Schema.
package campaign
