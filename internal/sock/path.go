package sock

import (
	"net"
	"slices"
)

// SendPath returns the way to send on c that is fastest here: it hands b to
// the kernel, waits until all of it is taken, and returns how much was. On a
// datagram socket b is one datagram. The function is for one goroutine,
// does not allocate, and obeys c's write deadline.
func SendPath(c net.Conn) func(b []byte) (int, error) { return c.Write }

// ReceivePath returns the way to receive on c that is fastest here: it waits
// for at least one byte (one datagram), and returns how many came. The
// function is for one goroutine, does not allocate, and obeys c's read deadline.
func ReceivePath(c net.Conn) func(b []byte) (int, error) { return c.Read }

// Preferred are the paths to try in turn: all that the system has for "auto", in
// its order, or the one that was asked for, if the system has it.
func Preferred(asked string, have []string) []string {
	if asked == "" || asked == "auto" {
		return have
	}
	if slices.Contains(have, asked) {
		return []string{asked}
	}
	return nil
}
