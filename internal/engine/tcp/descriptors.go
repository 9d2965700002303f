package tcp

import (
	"soku/internal/measure"
	"soku/internal/sock"
)

// Descriptors returns how many file descriptors an end of a flow of so many streams takes at
// most, beside its connections: a second one of each, used outside the runtime's poller; what
// wakes each loop; and the two pipes of a loop that sends.
func Descriptors(streams int, role measure.Role) int {
	each := 1
	if role == measure.Sender {
		each += 2 * 2
	}
	return streams + each*min(streams, max(usual.threads, sock.Processors))
}
