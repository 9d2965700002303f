package sock

import "net"

// Deal distributes the indices of conns connections over n loops, round robin. The result
// has one element a loop, and no more elements than there are connections.
func Deal(conns, n int) [][]int {
	loops := make([][]int, min(n, conns))
	for i := range conns {
		loops[i%len(loops)] = append(loops[i%len(loops)], i)
	}
	return loops
}

// Conns converts a slice of concrete connections to a slice of [net.Conn].
func Conns[C net.Conn](in []C) []net.Conn {
	out := make([]net.Conn, len(in))
	for i, c := range in {
		out[i] = c
	}
	return out
}
