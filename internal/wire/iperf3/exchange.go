package iperf3

import "net/netip"

// Exchange is what a test says in iperf3's own words, for who shows it as iperf3
// does. Members that the test did not come to have are zero.
type Exchange struct {
	Cookie        string
	Parameters    Parameters     // as they were sent
	Local, Remote netip.AddrPort // of the control connection
	ControlMSS    int            // bytes; 0: not known
	Streams       []StreamEnds   // in the order in which they were opened
	Own, Far      *Results       // as they were exchanged
	// ErrorCode and ErrorErrno are what the server said of its own failure.
	ErrorCode, ErrorErrno int
}

// StreamEnds is one stream as the client has it.
type StreamEnds struct {
	ID            int  // in results
	Sends         bool // the client does
	Local, Remote netip.AddrPort
}

// Exchanger is a [wire.Session] whose exchange can be asked for, at any time, also
// after it was closed. Sessions of [Open] are.
type Exchanger interface {
	Exchange() Exchange
}

// Exchange implements Exchanger.
func (s *session) Exchange() Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exchange
}
