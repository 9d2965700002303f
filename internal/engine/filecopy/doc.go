// Package filecopy moves files for the test copy: from a folder to another one on this host
// (Local), or over connections to another host (Source, Sink). It times what the parts of a
// copy take: files, reading, the network, writing and flushing. What it writes is in a
// private folder that is removed at the end ([private]), and no name of a file crosses the
// network. The page docs/reference/copy.md describes the test and docs/protocol.md the
// bytes on a connection.
//
// Each stream of a stage has two goroutines, one that reads or receives and one that sends
// or writes, with a few blocks between them (pump). A third samples the counts of all.
// Everything that a function starts has ended when it returns.
package filecopy
