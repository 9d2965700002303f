package iperf3

import (
	"errors"
	"strings"
	"syscall"

	"soku/internal/engine"
	"soku/internal/measure"
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
		if text, known := numbered(failed); known {
			return "error - " + text
		}
		return "error - the server ended the test: " + failed.Error()
	case e.Kind == measure.KindUnreachable:
		return "error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: " + reason(e)
	case e.Kind == measure.KindInterrupted:
		return "interrupt - the client has terminated"
	}
	return "error - " + oneLine(e)
}

// numbered is iperf3's message for an error number, if it can result from the client's
// parameters.
func numbered(f iperf3.ServerFailure) (text string, known bool) {
	switch f {
	case iperf3.CodeTotalRate:
		text = "total required bandwidth is larger than server limit"
	case iperf3.CodeMaxDuration:
		text = "client's requested duration exceeds the server's maximum permitted limit"
	case iperf3.CodeAuthorization:
		text = "test authorization failed"
	case iperf3.CodeSilence:
		text = strings.TrimPrefix(silent, "error - ")
	case iperf3.CodeExpired:
		text = "server test duration expired"
	case iperf3.CodeNoSCTP:
		text = "no SCTP support available"
	case iperf3.CodeCongestion:
		text = "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host"
	}
	return text, text != ""
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
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return oneLine(e)
}
