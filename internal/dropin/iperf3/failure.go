package iperf3

import (
	"errors"
	"strings"
	"syscall"

	"soku/internal/measure"
	"soku/internal/wire/iperf3"
)

// failure is what a client of iperf3 says where this went wrong.
func failure(e *measure.Error) string {
	switch {
	case errors.Is(e, iperf3.ErrBusy):
		return "error - the server is busy running a test. try again later"
	case e.Kind == measure.KindUnreachable:
		return "error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: " + reason(e)
	case e.Kind == measure.KindInterrupted:
		return "interrupt - the client has terminated"
	}
	return "error - " + oneLine(e)
}

// reason is the system's sentence for why a host was not reached, as C has it,
// where there is one.
func reason(e *measure.Error) string {
	var errno syscall.Errno
	switch {
	case strings.HasSuffix(e.Message, ": refused"):
		return "Connection refused"
	case strings.HasSuffix(e.Message, ": no answer in time"):
		return "Connection timed out"
	case errors.As(e, &errno) && errno.Error() != "":
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return oneLine(e)
}
