package latency

import (
	"net"
	"net/netip"

	"soku/internal/host"
	"soku/internal/measure"
)

// passage is all times of one round trip, in ns. sent, left, came and read are on the
// client's clock: the program is about to send, the kernel passes the request to the
// interface, the kernel receives the reply, the program has it. in and out are on the far
// end's clock; rawLeft and rawCame on the clock of the client's interface. 0 is unknown.
type passage struct {
	sent, left, came, read int64
	in, out                int64
	rawLeft, rawCame       int64
}

// splits collects the parts of round trips.
type splits struct {
	iface    string // outgoing interface, if known
	all      *parts // of every passage that can be split
	hardware *parts // of those with hardware stamps in both directions; nil until there is one
	replies  int64
}

// parts are the parts of round trips, each over the same passages.
type parts struct {
	whole, send, iface, path, far, receive *measure.Histogram
}

func newSplits(iface string) *splits { return &splits{iface: iface, all: newParts()} }

func newParts() *parts {
	h := measure.NewHistogram
	return &parts{h(), h(), h(), h(), h(), h()}
}

// add adds one passage. It ignores one whose times contradict each other: the wall clock,
// which the stamps use, may be set at any time.
func (s *splits) add(p passage) {
	s.replies++
	far, seen := p.out-p.in, p.came-p.left
	if p.left == 0 || p.came == 0 || p.in == 0 || p.left < p.sent || p.read < p.came || far < 0 || seen < far {
		return
	}
	s.all.record(p, 0, far)
	raw := p.rawCame - p.rawLeft
	if p.rawLeft == 0 || p.rawCame == 0 || raw < far || raw > seen {
		return
	}
	if s.hardware == nil {
		s.hardware = newParts()
	}
	s.hardware.record(p, seen-raw, far)
}

// record adds a passage that spent iface ns in driver and interface and far ns at the far
// end.
func (x *parts) record(p passage, iface, far int64) {
	x.whole.Record(p.read - p.sent)
	x.send.Record(p.left - p.sent)
	x.iface.Record(iface)
	x.path.Record(p.came - p.left - iface - far)
	x.far.Record(far)
	x.receive.Record(p.read - p.came)
}

// result returns nil if nothing was split. Hardware stamps are used if most round trips
// have them, and then only those round trips: both kinds together would mix two
// definitions of the path.
func (s *splits) result() *measure.Split {
	if s == nil || s.all.whole.Count() == 0 {
		return nil
	}
	x, stamps, by := s.all, measure.StampsSoftware, ""
	hardware := s.hardware != nil && 2*s.hardware.whole.Count() > x.whole.Count()
	if hardware {
		x, stamps, by = s.hardware, measure.StampsHardware, s.iface
	}
	r := &measure.Split{
		Stamps: stamps, StampedBy: by, Unsplit: s.replies - x.whole.Count(), WholeNs: *x.whole.Percentiles(),
		HostSend: x.send, Path: x.path, FarHost: x.far, HostReceive: x.receive,
		HostSendNs: *x.send.Percentiles(), PathNs: *x.path.Percentiles(), FarHostNs: *x.far.Percentiles(), HostReceiveNs: *x.receive.Percentiles(),
	}
	if hardware {
		r.Interface, r.InterfaceNs = x.iface, x.iface.Percentiles()
	}
	return r
}

// leavesBy returns the outgoing interface of conn, empty if unknown.
func leavesBy(conn net.Conn, o measure.Options) string {
	if o.Device != "" {
		return o.Device
	}
	local, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return ""
	}
	i, _ := host.InterfaceOf(local.Addr())
	return i.Name
}
