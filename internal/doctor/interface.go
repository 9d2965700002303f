package doctor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

var interfaceChecks = []Check{
	{"offloads", GroupInterface, Warning, measure.High, onDevice(offloadsOff)},
	{"duplex", GroupInterface, Problem, measure.High, onDevice(duplex)},
	{"link_speed", GroupInterface, Problem, measure.High, onDevice(linkSpeed)},
	{"queues", GroupInterface, Warning, measure.Medium, onDevice(queues)},
	{"rss", GroupInterface, Warning, measure.High, onDevice(rss)},
	{"interrupts", GroupInterface, Warning, measure.High, onDevice(interrupts)},
	{"rings", GroupInterface, Warning, measure.Low, onDevice(rings)},
	{"qdisc", GroupInterface, Warning, measure.High, onDevice(qdisc)},
	{"accelerated", GroupInterface, Problem, measure.High, onDevice(accelerated)},
	{"eee", GroupInterface, Warning, measure.Medium, onDevice(eee)},
	{"governor", GroupInterface, Warning, measure.Medium, governor},
}

const (
	loopback  = "lo"
	loopback0 = "lo0" // of macOS
)

// onDevice does not look without an interface, and at loopback.
func onDevice(look func(*Subject) Outcome) func(*Subject) Outcome {
	return func(s *Subject) Outcome {
		switch s.Facts.Interface {
		case "":
			if s.Far {
				return not(NotReported)
			}
			return not(NoInterface)
		case loopback, loopback0:
			return not(NotApplicable)
		}
		return look(s)
	}
}

// offloads are those that save a processor most: without them each packet of the MTU goes
// through the stack by itself. By the name in facts: the one that ethtool has.
var offloads = []struct{ fact, ethtool string }{
	{"tso", "tso"}, {"gso", "gso"}, {"gro", "gro"}, {"tx_checksum", "tx"}, {"rx_checksum", "rx"}, {"scatter_gather", "sg"},
}

func offloadsOff(s *Subject) Outcome {
	if len(s.Facts.Offloads) == 0 {
		return not(s.missing())
	}
	var off, fixed []string
	var changes []Change
	for _, o := range offloads {
		on, known := s.Facts.Offloads[o.fact]
		if on || !known {
			continue
		}
		if s.Extra != nil && s.Extra.Fixed[o.ethtool] {
			fixed = append(fixed, o.ethtool)
			continue
		}
		off = append(off, o.ethtool)
		changes = append(changes, Change{Kind: KindOffload, Device: s.Facts.Interface, Key: o.ethtool, Was: "off", To: "on"})
	}
	if len(off)+len(fixed) == 0 {
		return well
	}
	f := Finding{Changes: changes, Figures: measure.Figures{
		"interface": s.Facts.Interface, "off": append([]string{}, off...), "fixed": append([]string{}, fixed...),
		"mtu_bytes": s.mtu(), "rate_bps": s.RateBps, "packets_per_second": s.RateBps / 8 / s.mtu(),
	}}
	if len(off) == 0 { // it cannot be changed
		f.Severity = Note
	}
	return found(f)
}

func duplex(s *Subject) Outcome {
	switch {
	case s.Extra == nil:
		return not(s.missing())
	case s.Extra.Duplex == "half":
		return found(Finding{
			Figures:  measure.Figures{"interface": s.device()},
			Commands: []string{"ethtool -s " + s.device() + " autoneg on"},
		})
	case s.Extra.Duplex != "full":
		return not(NotApplicable)
	}
	return well
}

func linkSpeed(s *Subject) Outcome {
	speed := float64(s.Facts.LinkSpeedMbps) * 1e6
	switch {
	case speed == 0 && !s.physical():
		return not(NotApplicable)
	case speed == 0:
		return not(s.missing())
	case s.RateBps == 0:
		return not(NoRate)
	case s.RateBps <= speed:
		return well
	}
	return found(Finding{
		Figures:  measure.Figures{"interface": s.Facts.Interface, "speed_bps": speed, "rate_bps": s.RateBps},
		Commands: []string{"ethtool " + s.device()},
	})
}

// queueCount is how many receive queues the interface has and could have.
func queueCount(n *measure.NIC) (have, most int) {
	if n == nil || n.Queues == nil {
		return 0, 0
	}
	q := n.Queues
	return q.Combined + q.Rx, q.MaxCombined + q.MaxRx
}

// coresMany is from how many processors on a second queue is worth having: interrupts take one,
// and a loop another.
const coresMany = 4

// onePerQueueBps is about what a processor carries of received packets, with GRO and without a
// virtual machine between (docs/performance.md).
const onePerQueueBps = 10e9

func queues(s *Subject) Outcome {
	have, most := queueCount(s.Facts.NIC)
	switch {
	case !s.physical() && have <= 1:
		return not(NotApplicable)
	case have == 0:
		return not(s.missing())
	case have > 1 || s.Facts.CPUs < coresMany || s.Facts.NIC.RPS != nil:
		return well
	}
	f := Finding{Figures: measure.Figures{
		"interface": s.device(), "queues": have, "most": most, "cpus": s.Facts.CPUs,
	}}
	if s.RateBps > 0 && s.RateBps < onePerQueueBps/2 {
		f.Severity = Note // one processor carries that
	}
	if more := min(most, s.Facts.CPUs); more > have {
		word := "combined"
		if s.Facts.NIC.Queues.Combined == 0 {
			word = "rx"
		}
		f.Commands = []string{fmt.Sprintf("ethtool -L %s %s %d", s.device(), word, more)}
		f.Undo = []string{fmt.Sprintf("ethtool -L %s %s %d", s.device(), word, have)}
		return found(f)
	}
	if s.Extra != nil {
		for _, queue := range s.Extra.Queues {
			f.Changes = append(f.Changes, Change{Kind: KindSteering, Device: s.device(), Key: queue, Was: "0", To: maskOf(s.Facts.CPUs)})
		}
	}
	return found(f)
}

// maskOf is a mask of the first processors, as the kernel reads it: groups of eight hexadecimal
// digits.
func maskOf(cpus int) string {
	var groups []string
	for ; cpus > 0; cpus -= 32 {
		groups = append(groups, strconv.FormatUint(1<<min(cpus, 32)-1, 16))
	}
	slices.Reverse(groups)
	for i := range groups[min(1, len(groups)):] {
		groups[i+1] = strings.Repeat("0", 8-len(groups[i+1])) + groups[i+1]
	}
	return strings.Join(groups, ",")
}

func rss(s *Subject) Outcome {
	have, _ := queueCount(s.Facts.NIC)
	switch {
	case s.Facts.NIC == nil || s.Facts.NIC.RSS == nil:
		return not(NotApplicable) // not every driver has a table
	case have <= 1 || s.Facts.NIC.RSS.Queues > 1:
		return well
	}
	return found(Finding{
		Figures:  measure.Figures{"interface": s.device(), "queues": have},
		Commands: []string{fmt.Sprintf("ethtool -X %s equal %d", s.device(), have)},
		Undo:     []string{fmt.Sprintf("ethtool -X %s default", s.device())},
	})
}

// interrupts finds all of the interface's on one processor.
func interrupts(s *Subject) Outcome {
	have, _ := queueCount(s.Facts.NIC)
	switch {
	case s.Extra == nil:
		return not(s.missing())
	case len(s.Extra.Interrupts) == 0 && s.physical():
		return not(Unreadable)
	case len(s.Extra.Interrupts) == 0:
		return not(NotApplicable)
	case have <= 1 || len(s.Extra.Interrupts) <= 1 || s.Facts.CPUs <= 1:
		return well
	}
	first := s.Extra.Interrupts[0].CPUs
	if slices.ContainsFunc(s.Extra.Interrupts, func(i Interrupt) bool { return i.CPUs != first }) || strings.ContainsAny(first, "-,") {
		return well
	}
	f := Finding{Figures: measure.Figures{
		"interface": s.device(), "interrupts": len(s.Extra.Interrupts), "cpu": first, "balancer": s.Extra.Balancer,
	}}
	for i, one := range s.Extra.Interrupts {
		c := Change{Kind: KindAffinity, Key: strconv.Itoa(one.Number), Was: first, To: strconv.Itoa(i % s.Facts.CPUs)}
		switch {
		case c.To == first:
		case s.Extra.Balancer: // which would move it again
			f.Commands, f.Undo = append(f.Commands, c.Command()), append(f.Undo, c.reversed().Command())
		default:
			f.Changes = append(f.Changes, c)
		}
	}
	return found(f)
}

// ringHoldsNs is how long a ring must hold the packets of the wanted rate: as long as the processor
// may be busy with something else in an interrupt.
const ringHoldsNs = 500e3

func rings(s *Subject) Outcome {
	if s.Facts.NIC == nil || s.Facts.NIC.Rings == nil {
		if s.physical() {
			return not(s.missing())
		}
		return not(NotApplicable)
	}
	r, f := *s.Facts.NIC.Rings, Finding{}
	perSecond := s.RateBps / 8 / s.mtu()
	queue, _ := queueCount(s.Facts.NIC)
	need := perSecond * ringHoldsNs / 1e9 / float64(max(queue, 1))
	if s.RateBps == 0 {
		return not(NoRate)
	}
	raise := func(key string, have, most int) {
		if most > have && float64(have) < need {
			to := int(math.Min(roundUp(need), float64(most)))
			f.Changes = append(f.Changes, Change{Kind: KindRing, Device: s.device(), Key: key, Was: strconv.Itoa(have), To: strconv.Itoa(to)})
		}
	}
	raise("rx", r.Rx, r.MaxRx)
	raise("tx", r.Tx, r.MaxTx)
	if len(f.Changes) == 0 {
		return well
	}
	f.Figures = measure.Figures{
		"interface": s.device(), "rx": r.Rx, "max_rx": r.MaxRx, "tx": r.Tx, "max_tx": r.MaxTx, "rate_bps": s.RateBps,
		"holds_ns": float64(min(r.Rx, r.Tx)) * float64(max(queue, 1)) / perSecond * 1e9,
	}
	return found(f)
}

// shaping are the disciplines that limit, delay or lose.
var shaping = []string{"tbf", "htb", "hfsc", "netem", "cake", "cbq", "red", "plug"}

// queueLeast is the length of a first-in first-out queue in packets: one of fewer drops what a
// connection sends in a burst (a segment of 64 KB is 45 packets without segmentation in the card).
const queueLeast = 100

func qdisc(s *Subject) Outcome {
	kinds := strings.Fields(s.Facts.Qdisc)
	if len(kinds) == 0 {
		return not(s.missing())
	}
	length := 0
	if s.Facts.NIC != nil {
		length = s.Facts.NIC.TxQueueLen
	}
	f := Finding{Figures: measure.Figures{
		"interface": s.Facts.Interface, "qdisc": s.Facts.Qdisc, "length": length, "trouble": "",
	}}
	fifo := strings.HasPrefix(kinds[0], "pfifo")
	switch {
	case slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(shaping, k) }):
		f.Figures["trouble"] = "shaping"
		f.Commands = []string{"tc -s qdisc show dev " + s.Facts.Interface}
	case fifo && length > 0 && length < queueLeast:
		f.Figures["trouble"] = "short"
		f.Commands = []string{fmt.Sprintf("ip link set dev %s txqueuelen 1000", s.Facts.Interface)}
		f.Undo = []string{fmt.Sprintf("ip link set dev %s txqueuelen %d", s.Facts.Interface, length)}
	case kinds[0] == "noqueue" && s.physical():
		f.Figures["trouble"] = "none"
		f.Commands = []string{"tc qdisc replace dev " + s.Facts.Interface + " root fq_codel"}
		f.Undo = []string{"tc qdisc replace dev " + s.Facts.Interface + " root noqueue"}
	default:
		return well
	}
	return found(f)
}

func accelerated(s *Subject) Outcome {
	n, c := s.Facts.NIC, s.Facts.Cloud
	var vf *measure.VirtualFunction
	if n != nil {
		vf = n.VirtualFunction
	}
	if vf == nil && (c == nil || c.Accelerated == nil) {
		return not(NotApplicable)
	}
	f := Finding{Figures: measure.Figures{
		"interface": s.device(), "driver": s.driver(), "state": measure.VFAbsent, "function": "",
	}}
	if vf != nil {
		f.Figures["state"], f.Figures["function"] = vf.State, cmp.Or(vf.Interface, vf.Bus)
	}
	switch {
	case vf != nil && vf.State == measure.VFDown && vf.Interface != "":
		f.Commands = []string{"ip link set dev " + vf.Interface + " up"}
		f.Undo = []string{"ip link set dev " + vf.Interface + " down"}
	case vf != nil && vf.State != measure.VFActive && vf.State != measure.VFAbsent:
	case c != nil && c.Accelerated != nil && !*c.Accelerated, vf != nil && vf.State == measure.VFAbsent:
		f.Severity, f.Confidence = Warning, measure.Medium // it may be as it was ordered
	default:
		return well
	}
	return found(f)
}

func eee(s *Subject) Outcome {
	switch {
	case s.Extra == nil:
		return not(s.missing())
	case s.Extra.EEE == nil:
		return not(NotApplicable)
	case !s.Extra.EEE.Active:
		return well
	}
	return found(Finding{
		Figures:  measure.Figures{"interface": s.device()},
		Commands: []string{"ethtool --set-eee " + s.device() + " eee off"},
		Undo:     []string{"ethtool --set-eee " + s.device() + " eee on"},
	})
}

// saving are the governors that lower the clock while a processor waits, as that of a latency test
// does most of the time, or always.
var saving = []string{"powersave", "conservative", "ondemand", "userspace"}

func governor(s *Subject) Outcome {
	names := strings.Split(s.Facts.Governor, ",")
	switch {
	case s.Facts.Governor == "" && s.Facts.OS == linux && !s.Far && s.Extra != nil && len(s.Extra.Policies) == 0:
		return not(NotApplicable) // the system does not scale, or the hypervisor does
	case s.Facts.Governor == "":
		return not(s.missing())
	case !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(saving, n) }):
		return well
	}
	f := Finding{Figures: measure.Figures{"governor": s.Facts.Governor}}
	if s.Extra == nil {
		f.Commands = []string{"cpupower frequency-set -g performance"}
		return found(f)
	}
	for _, p := range s.Extra.Policies {
		if slices.Contains(saving, p.Governor) && slices.Contains(p.Available, "performance") {
			f.Changes = append(f.Changes, Change{Kind: KindGovernor, Key: p.Name, Was: p.Governor, To: "performance"})
		}
	}
	return found(f)
}
