// Package journal keeps what happens in a campaign, so that it survives a kill at any moment: an
// append-only list of [Record], which lasts when [Journal.Append] returns.
//
//	j, lock, err := journal.Folder("campaigns").Create(id)
//	err = j.Append(journal.Record{Kind: journal.RecordPlan, At: now, Plan: &p})
//	err = errors.Join(j.Close(), lock.Release())
//
// A [Backend] keeps the journals: a [Folder] on a disk, package sqljournal in a database, a [Memory] for
// tests. The package does
// not interpret the records (package campaign), and starts no goroutines.
//
// docs/reference/plan.md specifies the journal's format.
package journal
