package iperf3

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/process"
	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

const silent = "error - idle timeout for receiving data"

// failure is iperf3's client message for this error.
func failure(e *measure.Error) string {
	var failed iperf3.ServerFailure
	switch {
	case errors.Is(e, iperf3.ErrBusy):
		return "error - the server is busy running a test. try again later"
	case errors.Is(e, iperf3.ErrStopped):
		return "error - the server has terminated"
	case errors.Is(e, iperf3.ErrClosed):
		return "error - control socket has closed unexpectedly"
	case errors.Is(e, engine.ErrStalled):
		return silent
	case errors.As(e, &failed):
		if text, known := numbered[failed]; known {
			return "error - " + text
		}
		return "error - the server ended the test: " + failed.Error()
	case e.Kind == measure.KindUnreachable:
		return "error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: " + reason(e)
	case e.Kind == measure.KindInterrupted:
		return "interrupt - the client has terminated" + bySignal(e)
	}
	return "error - " + oneLine(e)
}

// bySignal is what iperf3 adds about the signal that ended it, or empty if none did.
func bySignal(err error) string {
	var s process.Signalled
	if !errors.As(err, &s) {
		return ""
	}
	number, _ := s.Signal.(syscall.Signal)
	return fmt.Sprintf(" by signal %s(%d)", capitalized(s.Error()), number)
}

// capitalized is a text of Go's system errors and signals as the C library has it.
func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// numbered are iperf3's messages for the error numbers that can result from the client's
// parameters.
var numbered = map[iperf3.ServerFailure]string{
	iperf3.CodeTotalRate:     "total required bandwidth is larger than server limit",
	iperf3.CodeMaxDuration:   "client's requested duration exceeds the server's maximum permitted limit",
	iperf3.CodeAuthorization: "test authorization failed",
	iperf3.CodeSilence:       strings.TrimPrefix(silent, "error - "),
	iperf3.CodeExpired:       "server test duration expired",
	iperf3.CodeNoSCTP:        "no SCTP support available",
	iperf3.CodeCongestion:    "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host",
}

// reason is the C library's text (strerror) of the system error that made a host
// unreachable, if there is one.
func reason(e *measure.Error) string {
	var errno syscall.Errno
	switch {
	case sock.Refused(e):
		return "Connection refused"
	case sock.TimedOut(e):
		return "Connection timed out"
	case errors.As(e, &errno) && errno.Error() != "":
		return capitalized(errno.Error())
	}
	return oneLine(e)
}
