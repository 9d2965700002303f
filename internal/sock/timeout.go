package sock

import (
	"errors"
	"net"
)

// TimedOut reports whether err says that a call on a socket took longer than it
// was given: a deadline that passed, or the system's own patience.
func TimedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
