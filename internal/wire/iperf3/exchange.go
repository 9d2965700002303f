package iperf3

import (
	"net/netip"
	"time"
)

// Exchange has the protocol messages of a test, for output in iperf3's format. Members
// that the test did not reach are zero.
type Exchange struct {
	Cookie        string
	Parameters    Parameters     // as sent
	Local, Remote netip.AddrPort // of the control connection
	ControlMSS    int            // bytes; 0: not known
	Streams       []StreamEnds   // in the order in which they were opened
	Own, Far      *Results       // as exchanged
	Pause         time.Duration  // of Far's time, after the last byte
	// ErrorCode and ErrorErrno are the server's error, if it failed.
	ErrorCode, ErrorErrno int
}

// StreamEnds is one stream at the client.
type StreamEnds struct {
	ID            int  // in results
	Sends         bool // the client does
	Local, Remote netip.AddrPort
}

// Exchanger is a [wire.Session] that returns its exchange at any time, also after it was
// closed. Sessions of [Open] implement it.
type Exchanger interface {
	Exchange() Exchange
}

// Exchange implements Exchanger.
func (s *session) Exchange() Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exchange
}
