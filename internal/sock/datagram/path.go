package datagram

import (
	"errors"
	"net"

	"soku/internal/measure"
)

// The paths into the kernel and out of it, as the options tx and rx name them.
const (
	Write = "write" // one datagram a call, on every platform
	Read  = "read"
	Batch = "batch" // many datagrams a call
	GSO   = "gso"   // many datagrams a call, split after they left the program
	GRO   = "gro"   // many datagrams a call, joined before they reach it
)

const auto = "auto"

// SendPath is the path that datagrams over conns take when the option tx asks
// for one. For "auto" it is the fastest whose datagrams pass the host one by one.
// A path that is asked for and cannot be taken is an error of kind usage.
func SendPath(tx string, conns []net.Conn) (string, error) { return choose("tx", tx, Write, conns) }

// ReceivePath is [SendPath] for the option rx.
func ReceivePath(rx string, conns []net.Conn) (string, error) { return choose("rx", rx, Read, conns) }

func has(path string, conns []net.Conn) bool { return lacking(path, conns) == nil }

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
	if err := lacking(asked, conns); err != nil {
		return "", measure.Errorf(measure.KindUsage, "%s %s cannot be taken on this host: %w", option, asked, err).
			WithHint("use --%s %s, or auto", option, portable)
	}
	return asked, nil
}

var errShared = errors.New("its datagrams share one socket")

// lacking is why a path cannot be taken over conns, or nil.
func lacking(path string, conns []net.Conn) error {
	for _, c := range conns {
		if _, ok := c.(*net.UDPConn); !ok {
			return errShared
		}
	}
	return supported(path)
}
