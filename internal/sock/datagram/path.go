package datagram

import (
	"errors"
	"net"

	"soku/internal/measure"
)

// The paths to send and receive by, as the options tx and rx name them.
const (
	Write = "write" // one datagram a call, on every platform
	Read  = "read"
	Batch = "batch" // many datagrams a call
	GSO   = "gso"   // many datagrams a call, split by the kernel
	GRO   = "gro"   // many datagrams a call, joined by the kernel
)

const auto = "auto"

// SendPath returns the path of datagrams sent over conns, for the value tx of that
// option. For "auto" it is the fastest path on which datagrams pass through the host one
// by one. If a requested path is not possible, the error is of kind usage.
func SendPath(tx string, conns []net.Conn) (string, error) { return choose("tx", tx, Write, conns) }

// ReceivePath is [SendPath] for the option rx.
func ReceivePath(rx string, conns []net.Conn) (string, error) { return choose("rx", rx, Read, conns) }

func has(path string, conns []net.Conn) bool { return unavailable(path, conns) == nil }

func choose(option, asked, portable string, conns []net.Conn) (string, error) {
	switch asked {
	case portable:
		return portable, nil
	case auto, "":
		if has(Batch, conns) {
			return Batch, nil
		}
		return portable, nil
	}
	switch err := unavailable(asked, conns); {
	case err == nil:
		return asked, nil
	case errors.Is(err, errShared):
		return "", measure.Fail(measure.KindUsage, "sock.datagram.path.shared", measure.Figures{"option": option, "path": asked, "portable": portable})
	case errors.Is(err, errSystem):
		return "", measure.Fail(measure.KindUsage, "sock.datagram.path.system", measure.Figures{"option": option, "path": asked, "portable": portable})
	default:
		return "", measure.Fail(measure.KindUsage, "sock.datagram.path", measure.Figures{
			"option": option, "path": asked, "portable": portable, "cause": err,
		})
	}
}

var (
	errShared = errors.New("datagrams share one socket")
	errSystem = errors.New("path of Linux only")
)

// unavailable returns why a path is not possible over conns, or nil.
func unavailable(path string, conns []net.Conn) error {
	for _, c := range conns {
		if _, ok := c.(*net.UDPConn); !ok {
			return errShared
		}
	}
	return supported(path)
}
