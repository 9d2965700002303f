// Package lab builds emulated networks with a known truth out of Linux network
// namespaces: hosts, routers and links with a rate, a delay, loss, an MTU, a
// firewall or equal-cost paths, all written down in one YAML topology. What a
// path must measure is computed from the same file ([Topology.Truth]), so a
// measuring tool can be held against it.
//
// The package does not measure and does not emulate hosts: every namespace
// shares the machine's kernel, processors and file system.
//
// Rates are kept by the kernel (tbf, htb or an nftables limit). Delay, jitter
// and loss are given by a helper process, one a lab, that carries the packets
// of such links between two TAP devices ([DelayLine]); it records the delay
// each packet really got.
//
// Goroutines: [Up] starts one for each process of the lab that waits for its
// end; [Lab.Down] waits for them. A goroutine that works inside a namespace is
// locked to its thread and finished before the call returns.
//
// docs/reference/topology.md specifies the file and the truth.
package lab
