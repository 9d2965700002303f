package lab

import (
	"cmp"
	"math"
	"soku/internal/measure"
	"time"

	"github.com/vishvananda/netlink"
)

// bucket is a token bucket and the queue in front of it, in bytes.
type bucket struct {
	burst, queue uint32
}

// burstTime is the burst that a shaper may send after its queue was empty, as
// time at its rate. Long enough that a late timer on a busy machine does not
// leave the link idle; short enough to be 0.2 % of a two-second test.
const burstTime = 4 * time.Millisecond

// bucketFor chooses what the file left open. The queue holds 30 ms of the
// rate, more where the link's own round trip is longer, so that one TCP flow
// with a common congestion control fills the link; never less than 20 packets.
func bucketFor(l *Link, way int) bucket {
	w := &l.Ways[way]
	perSecond := float64(w.Rate) / 8
	frame := float64(l.MTU + etherBytes)
	burst := float64(w.Burst)
	burst = cmp.Or(burst, perSecond*burstTime.Seconds())
	wait := w.Queue.Std().Seconds()
	if wait == 0 {
		rtt := (l.Ways[0].Delay + l.Ways[1].Delay).Std().Seconds()
		wait = min(max(0.030, rtt), 0.200)
	}
	return bucket{
		burst: uint32(math.Min(math.Max(burst, 3*frame), 64<<20)),
		queue: uint32(math.Min(math.Max(perSecond*wait, 20*frame), 1<<30)),
	}
}

// shape puts the rate of one direction on the device it leaves through.
// Packets larger than the burst, which segmentation offload makes, are cut
// into packets of the MTU by the kernel first.
func shape(l *Link, end int, s *space) error {
	rate := l.Ways[end].Rate
	if rate == 0 {
		return nil
	}
	dev, err := s.nl.LinkByName(l.Ends[end].Iface)
	if err != nil {
		return fail("lab.link.find", measure.Figures{"interface": l.Ends[end].Iface, "cause": err})
	}
	b := bucketFor(l, end)
	if l.Shaper == ShaperHTB {
		err = addHTB(s.nl, dev, uint64(rate), b)
	} else {
		err = addTBF(s.nl, dev, uint64(rate), b)
	}
	if err != nil {
		return fail("lab.link.shape", measure.Figures{"interface": l.Ends[end].Iface, "rate_bps": rate, "cause": err})
	}
	return nil
}

func addTBF(nl *netlink.Handle, dev netlink.Link, rate uint64, b bucket) error {
	perSecond := rate / 8
	return nl.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       perSecond,
		Limit:      b.queue,
		Buffer:     netlink.Xmittime(perSecond, b.burst),
	})
}

func addHTB(nl *netlink.Handle, dev netlink.Link, rate uint64, b bucket) error {
	root := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT})
	root.Defcls = 1
	if err := nl.QdiscAdd(root); err != nil {
		return err
	}
	class := netlink.NewHtbClass(
		netlink.ClassAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(1, 1), Parent: netlink.MakeHandle(1, 0)},
		netlink.HtbClassAttrs{Rate: rate, Ceil: rate, Buffer: b.burst, Cbuffer: b.burst, Quantum: 60000},
	)
	if err := nl.ClassAdd(class); err != nil {
		return err
	}
	// A byte queue below the class; the default one counts packets, and one packet may be 64 KiB.
	return nl.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(2, 0), Parent: netlink.MakeHandle(1, 1)},
		Rate:       200e9 / 8, Limit: b.queue, Buffer: netlink.Xmittime(200e9/8, 16<<20),
	})
}
