// Package probe sends single packets whose hop limit, size and flow are chosen, and
// tells which answer is to which: what the tests trace and mtu, and parts of ping, are
// made of. It decides nothing about when to send, and keeps no statistics.
//
// Answers that are ICMP errors are read from the sockets' error queues (ip(7),
// IP_RECVERR): the kernel gives a socket only errors that quote a packet with its
// addresses and ports. Beyond that an answer must carry the number of a probe and,
// where enough is quoted, the token of the run.
//
// A flow keeps its addresses, ports and, for ICMP, its identifier and checksum, so that
// routers which choose among equal paths by them keep it on one (Augustin et al.,
// "Avoiding traceroute anomalies with Paris traceroute", 2006).
//
// A [Prober] is used by one goroutine; the package starts none. Only Linux has one.
package probe
