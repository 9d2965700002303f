// Package archive is all that was measured: the results and campaigns of a store together with
// the journals of campaigns. It finds, lists, deletes and merges campaigns; a campaign that was
// killed at its beginning has a journal and is in no store.
//
// The package asks no questions and prints nothing: a caller lists what would be deleted, asks,
// and deletes. It starts no goroutines.
package archive
