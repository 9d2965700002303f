package tcp

import (
	"soku/internal/measure"
	"soku/internal/sock"
)

// Descriptors returns how many file descriptors an end of a flow takes at most in addition to
// its connections: a second descriptor of each stream, used outside the runtime's poller; those
// that wake each loop; and the two pipes of a loop that sends.
func Descriptors(streams int, role measure.Role) int {
	each := 1
	if role == measure.Sender {
		each += 2 * 2
	}
	return streams + each*min(streams, max(usual.threads, sock.Processors))
}
