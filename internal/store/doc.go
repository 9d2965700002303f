// Package store keeps results and campaigns. It has one interface, [Store], and
// one conformance suite that every implementation passes, package test/storetest.
// The implementations are package sqlite, one file on disk, and package memory.
//
// [FindResult] and [FindCampaign] resolve what a person types for an identity (an abbreviation,
// a name, "last"), above the interface.
//
// Use: open a store through its implementation, and pass on the interface.
//
//	s := memory.New()                // or sqlite.Open, for a file
//	defer s.Close()
//	err := s.Put(ctx, result)        // repeat it as often as needed: results do not change
//	result, err = store.FindResult(ctx, s, "last")
//	for entry, err := range store.Entries(ctx, s, store.Query{Test: measure.TestTCP}) {
//		// An entry has the figures of a result without its document.
//	}
//	for result, err := range s.Results(ctx, store.Query{Campaign: id}, store.Outline) {
//		// One document at a time, with as much of it as the detail says.
//	}
//
// A store is where results are looked up, not where they are safest: while a
// campaign runs, its journal (package campaign) is written first, and
// results missing from the store are written again when the campaign is resumed.
//
// The package starts no goroutines.
package store
