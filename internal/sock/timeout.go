package sock

import (
	"errors"
	"net"
)

// TimedOut reports whether err means that a call on a socket timed out: by a deadline, or
// by a time-out of the system.
func TimedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
