// Package plan is what a person writes down of a campaign: its keys, how they are read and
// checked, and what they ask for: patterns, pairs of endpoints, how often each test runs.
//
//	p, err := plan.Load("plan.yaml", os.ReadFile)
//	for _, pattern := range p.AllPatterns() {
//		...
//	}
//
// An error names file, line and column. A [Plan] without an error holds together: names refer
// to something, every pattern has both ends, and the options of every trial are in range. It is
// not changed after that, but for [Plan.Resolve], and may then be read by several goroutines.
//
// The package does not know in which order trials run (package schedule), what a plan can
// show (package advice), or what has been measured (package campaign). It starts no goroutines.
// docs/reference/plan.md specifies the plan; docs/reference/plan.schema.json is its JSON Schema.
package plan
