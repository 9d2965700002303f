package sock

import "net"

// Deal gives each of n loops its share of so many connections, in turn: one element a
// loop, of the connections' indices. There are no more loops than connections.
func Deal(conns, n int) [][]int {
	loops := make([][]int, min(n, conns))
	for i := range conns {
		loops[i%len(loops)] = append(loops[i%len(loops)], i)
	}
	return loops
}

// Conns are connections of one kind as what they have in common.
func Conns[C net.Conn](in []C) []net.Conn {
	out := make([]net.Conn, len(in))
	for i, c := range in {
		out[i] = c
	}
	return out
}
