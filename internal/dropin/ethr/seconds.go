package ethr

import (
	"fmt"
	"net"
	"syscall"
	"time"

	"soku/internal/measure"
)

// seconds prints the table of a test of bandwidth or packets while it runs.
type seconds struct {
	t    *test
	ids  []uint64 // of each connection: its descriptor
	past int      // seconds of previous parts
	here int      // of this part
}

// table sets the connections of the table.
func (t *test) table(conns []net.Conn) *seconds {
	s := &seconds{t: t}
	for _, c := range conns {
		id := descriptor(c)
		s.ids = append(s.ids, id)
		local, localPort, _ := net.SplitHostPort(c.LocalAddr().String())
		remote, remotePort, _ := net.SplitHostPort(c.RemoteAddr().String())
		t.out.say("[%3d] local %s port %s connected to %s port %s", id, local, localPort, remote, remotePort)
	}
	return s
}

func descriptor(c net.Conn) (id uint64) {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { id = uint64(fd) })
		}
	}
	return id
}

// next starts another part of the test.
func (s *seconds) next() { s.past, s.here = s.past+s.here, 0 }

// second prints one interval. A partial second at the end is not printed, as in Ethr.
func (s *seconds) second(p measure.Progress) {
	took := time.Duration(p.EndNs - p.StartNs).Seconds()
	if took < 0.9 {
		return
	}
	if s.past+s.here == 0 {
		s.head()
	}
	from := s.past + s.here
	s.here++
	span := fmt.Sprintf("%03d-%03d", from, from+1)
	bits := func(bytes float64) string { return unit(bytes*8/took, s.t.out.decimals) }
	packets := ""
	if s.t.Protocol == "UDP" {
		packets = unit(float64(p.Packets)/took, s.t.out.decimals)
	}
	if s.t.Test == "p" {
		s.t.out.say("  %-5s    %s sec   %7s   %7s", s.t.Protocol, span, bits(float64(p.Bytes)), packets)
	} else {
		s.connections(p, span, took, bits, packets)
	}
	s.t.out.result(s.t.addr.Addr().String(), s.t.Protocol, bits(float64(p.Bytes)), "", packets, "")
}

// connections prints a line for each connection, and the sum if there are several. An
// interval distinguishes a limited number of connections; of more it has only the sum.
func (s *seconds) connections(p measure.Progress, span string, took float64, bits func(float64) string, packets string) {
	apart := !s.t.Quiet && len(p.Streams) == len(s.ids)
	if apart {
		for i, bytes := range p.Streams {
			each := unit(float64(bytes)/float64(max(s.t.Length, 1))/took, s.t.out.decimals)
			s.line(fmt.Sprintf("%5d", s.ids[i]), span, bits(float64(bytes)), each)
		}
	}
	if len(s.ids) > 1 || !apart {
		s.line("SUM", span, bits(float64(p.Bytes)), packets)
		if apart {
			s.divider()
		}
	}
}

func (s *seconds) line(id, span, bits, packets string) {
	if s.t.Protocol == "UDP" {
		s.t.out.say("[%5s]     %-5s    %s sec   %7s   %7s", id, s.t.Protocol, span, bits, packets)
		return
	}
	s.t.out.say("[%5s]     %-5s    %s sec   %7s", id, s.t.Protocol, span, bits)
}

func (s *seconds) divider() {
	if s.t.Protocol == "UDP" {
		s.t.out.say("- - - - - - - - - - - - - - - - - - - - - - - - - - - -")
		return
	}
	s.t.out.say("- - - - - - - - - - - - - - - - - - - - - - -")
}

func (s *seconds) head() {
	switch {
	case s.t.Test == "p":
		s.t.out.say("- - - - - - - - - - - - - - - - - - - - - - -")
		s.t.out.say("Protocol    Interval      Bits/s    Pkts/s")
	case s.t.Protocol == "UDP":
		s.divider()
		s.t.out.say("[  ID ]   Protocol    Interval      Bits/s    Pkts/s")
	default:
		s.divider()
		s.t.out.say("[  ID ]   Protocol    Interval      Bits/s")
	}
}
