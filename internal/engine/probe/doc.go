// Package probe sends single packets with a chosen hop limit, size and flow, and matches
// answers to them. It is the base of the tests trace and mtu, and of parts of ping. It
// does not decide when to send, and computes no statistics.
//
// ICMP errors are read from the sockets' error queues (ip(7), IP_RECVERR): the kernel
// gives a socket only errors that quote a packet with its addresses and ports. In
// addition an answer must carry the number of a probe and, if enough is quoted, the token
// of the run.
//
// A flow keeps its addresses, ports and, for ICMP, its identifier and checksum, so that
// routers that choose among paths of equal cost by them keep it on one path (Augustin et
// al., "Avoiding traceroute anomalies with Paris traceroute", 2006).
//
// A [Prober] is used by one goroutine; the package starts none. Only Linux has one.
package probe
