// Package lab builds emulated networks with known properties (the truth) from Linux
// network namespaces: hosts, routers and links with a rate, a delay, loss, an MTU, a
// firewall or equal-cost paths, described in one YAML topology. What a path must measure
// is computed from the same file ([Topology.Truth]), so that a measuring tool can be
// checked against it.
//
// The package does not measure and does not emulate hosts: every namespace shares the
// machine's kernel, processors and file system.
//
// The kernel enforces rates (tbf, htb or an nftables limit). Delay, jitter and loss come
// from a helper process, one a lab, that carries the packets of such links between two
// TAP devices ([DelayLine]); it records the delay that each packet really had.
//
// Goroutines: [Up] starts one for each process of the lab, which waits for its end;
// [Lab.Down] waits for these goroutines. A goroutine that works inside a namespace is
// locked to its thread and has ended before the call returns.
//
// docs/reference/topology.md specifies the file and the truth.
package lab
