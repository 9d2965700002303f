package latency

import (
	"net"
	"net/netip"

	"soku/internal/host"
	"soku/internal/measure"
)

// passage is one round trip by all who saw it, in ns. sent, left, came and read are
// on the client's clock: the program about to send, the kernel handing the request to
// the interface, the kernel having the reply, the program having it. in and out are
// the far end's, on its own clock; rawLeft and rawCame the client's interface's, on
// the interface's. 0 is what nobody said.
type passage struct {
	sent, left, came, read int64
	in, out                int64
	rawLeft, rawCame       int64
}

// splits collects where round trips went.
type splits struct {
	iface    string // that the requests leave by, if known
	all      *parts // of every passage that can be split
	hardware *parts // of those that the interface saw both ways; nil until there is one
	replies  int64
}

// parts are what round trips are made of, each over the same passages.
type parts struct {
	whole, send, iface, path, far, receive *measure.Histogram
}

func newSplits(iface string) *splits { return &splits{iface: iface, all: newParts()} }

func newParts() *parts {
	h := measure.NewHistogram
	return &parts{h(), h(), h(), h(), h(), h()}
}

// add takes one passage. One whose times contradict each other is left out: the wall
// clock, which the stamps are of, may be set at any moment.
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

// record takes a passage that was for so long in driver and interface.
func (x *parts) record(p passage, iface, far int64) {
	x.whole.Record(p.read - p.sent)
	x.send.Record(p.left - p.sent)
	x.iface.Record(iface)
	x.path.Record(p.came - p.left - iface - far)
	x.far.Record(far)
	x.receive.Record(p.read - p.came)
}

// result is nil where nothing was split. The interface's stamps are used where most
// round trips have them, and then only those: figures of both kinds together would
// have two paths in one.
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

// leavesBy names the interface that the packets of conn leave by, empty if unknown.
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
