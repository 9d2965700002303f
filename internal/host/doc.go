// Package host reads what a machine is ([Facts], and [Details] for what takes longer) and
// what a trial cost it ([Watch]): whatever can change a figure and is not an option. It
// changes nothing, and sends nothing but the questions of [Details] to the metadata service
// of the machine's cloud.
//
// Everything about the network is read in the network namespace of the calling thread, which is
// the process's unless the caller moved it; but the interface in Details is always one of the
// process's. A value that cannot be read is left out. The package starts no goroutines that
// outlive a call, but for those of Details that a hanging source keeps. What happens between
// the start and the end of a trial is read by package series.
//
// The values are specified in docs/reference/result.md.
package host
