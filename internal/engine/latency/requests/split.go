package requests

import "soku/internal/measure"

// Passage is all times of one round trip, in ns. Sent, Left, Came and Read are on the
// client's clock: the program is about to send, the kernel passes the request to the
// interface, the kernel receives the reply, the program has it. In and Out are on the far
// end's clock; RawLeft and RawCame on the clock of the client's interface. 0 is unknown.
type Passage struct {
	Sent, Left, Came, Read int64
	In, Out                int64
	RawLeft, RawCame       int64
}

// Splits collects the parts of round trips.
type Splits struct {
	iface    string // outgoing interface, if known
	all      *parts // of every passage that can be split
	hardware *parts // of those with hardware stamps in both directions; nil until there is one
	replies  int64
}

// parts are the parts of round trips, each over the same passages.
type parts struct {
	whole, send, iface, path, far, receive *measure.Histogram
}

// NewSplits makes a collection whose stamps come from the interface iface, if known.
func NewSplits(iface string) *Splits { return &Splits{iface: iface, all: newParts()} }

func newParts() *parts {
	h := measure.NewHistogram
	return &parts{h(), h(), h(), h(), h(), h()}
}

// Add adds one passage. It ignores one whose times contradict each other: the wall clock,
// which the stamps use, may be set at any time.
func (s *Splits) Add(p Passage) {
	s.replies++
	far, seen := p.Out-p.In, p.Came-p.Left
	if p.Left == 0 || p.Came == 0 || p.In == 0 || p.Left < p.Sent || p.Read < p.Came || far < 0 || seen < far {
		return
	}
	s.all.record(p, 0, far)
	raw := p.RawCame - p.RawLeft
	if p.RawLeft == 0 || p.RawCame == 0 || raw < far || raw > seen {
		return
	}
	if s.hardware == nil {
		s.hardware = newParts()
	}
	s.hardware.record(p, seen-raw, far)
}

// record adds a passage that spent iface ns in driver and interface and far ns at the far
// end.
func (x *parts) record(p Passage, iface, far int64) {
	x.whole.Record(p.Read - p.Sent)
	x.send.Record(p.Left - p.Sent)
	x.iface.Record(iface)
	x.path.Record(p.Came - p.Left - iface - far)
	x.far.Record(far)
	x.receive.Record(p.Read - p.Came)
}

// Result returns nil if nothing was split. Hardware stamps are used if most round trips
// have them, and then only those round trips: both kinds together would mix two
// definitions of the path.
func (s *Splits) Result() *measure.Split {
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
