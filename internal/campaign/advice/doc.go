// Package advice says what a plan will take and can show before it runs, and writes plans for
// people: the time and payload of a campaign ([EstimateOf]), the smallest difference that it
// can show ([PowerOf]), what keeps it from deciding ([Warnings]), a first plan ([Draft]), and
// the plan of a comparison of commands ([CommandPlan]).
//
//	e := advice.EstimateOf(p, nil)
//	fmt.Println(e.Trials, e.Time, e.Bytes)
//
// All of it is computed from the plan: the package measures nothing, reads no journal and
// starts no goroutines. docs/method.md has the statistics.
package advice
