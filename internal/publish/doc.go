// Package publish makes what people read about a campaign from a store: the report, in every
// format, and the choices of a comparison. It prints nothing and opens no files.
//
// [Campaign] and [ByHand] make a report, [Format.Write] writes it, and [FileName] is its usual
// name in a folder. [Choice] has the results that a comparison takes from a campaign.
//
// The package decides what is in a report: the order of patterns and tests and the design from
// the plan, the documented limits from the catalog. Package report computes and draws. The
// package starts no goroutines.
package publish
