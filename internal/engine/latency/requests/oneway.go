package requests

import (
	"cmp"
	"slices"

	"soku/internal/measure"
)

const (
	// mostKept is the number of exchanges from which one-way delays are computed: above
	// it, every second is dropped, repeatedly.
	mostKept = 1 << 16
	// A drift is significant only over a minimum time and number of exchanges.
	driftSpan  = 2e9 // ns
	driftLeast = 300
)

// oneWay stores the four times of exchanges and computes one-way delays.
type oneWay struct {
	kept   []fourTimes
	stride int // exchanges per kept one
	seen   int
}

// fourTimes are those of NTP (RFC 5905, section 8): t1 and t4 on the client's clock, t2
// and t3 on the echo's.
type fourTimes struct{ t1, t2, t3, t4 int64 }

// delay returns the round trip without the time at the far end.
func (x fourTimes) delay() int64 { return (x.t4 - x.t1) - (x.t3 - x.t2) }

// offset returns how far the echo's clock is ahead, if both directions take equally long.
func (x fourTimes) offset() float64 { return (float64(x.t2-x.t1) + float64(x.t3-x.t4)) / 2 }

func (o *oneWay) add(x fourTimes) {
	if o.stride == 0 {
		o.stride, o.kept = 1, make([]fourTimes, 0, mostKept)
	}
	if o.seen++; (o.seen-1)%o.stride != 0 {
		return
	}
	if len(o.kept) == mostKept {
		for i := range mostKept / 2 {
			o.kept[i] = o.kept[2*i]
		}
		o.kept = o.kept[:mostKept/2]
		if o.stride *= 2; (o.seen-1)%o.stride != 0 {
			return
		}
	}
	o.kept = append(o.kept, x)
}

// result returns nil if there are no exchanges with four times.
func (o *oneWay) result() *measure.OneWay {
	if len(o.kept) == 0 {
		return nil
	}
	// A float keeps nanoseconds only for small values, so differences are used.
	base := o.kept[0].t2 - o.kept[0].t1
	for i := range o.kept {
		o.kept[i].t2 -= base
		o.kept[i].t3 -= base
	}
	fastest := slices.Clone(o.kept)
	slices.SortFunc(fastest, func(a, b fourTimes) int { return cmp.Compare(a.delay(), b.delay()) })
	least := fastest[0].delay()
	fastest = fastest[:(len(fastest)+2)/3]
	at, slope := line(fastest)
	r := &measure.OneWay{
		Up: measure.NewHistogram(), Down: measure.NewHistogram(), Exchanges: int64(len(o.kept)),
		ClockOffsetNs: base + int64(at(0)), ClockErrorNs: max(1, least/2), ClockDriftPPM: slope * 1e6,
	}
	for _, x := range o.kept {
		off := int64(at(x.t1))
		r.Up.Record(x.t2 - x.t1 - off)
		r.Down.Record(x.t4 - x.t3 + off)
	}
	r.UpNs, r.DownNs = *r.Up.Percentiles(), *r.Down.Percentiles()
	return r
}

// line is the least-squares fit of the offset over t1; constant if the slope is not
// significant.
func line(of []fourTimes) (at func(t1 int64) float64, slope float64) {
	n := float64(len(of))
	var t, off float64
	first, last := of[0].t1, of[0].t1
	for _, x := range of {
		t += float64(x.t1) / n
		off += x.offset() / n
		first, last = min(first, x.t1), max(last, x.t1)
	}
	if len(of) >= driftLeast && last-first >= driftSpan {
		var tt, to float64
		for _, x := range of {
			d := float64(x.t1) - t
			tt += d * d
			to += d * (x.offset() - off)
		}
		slope = to / tt
	}
	return func(t1 int64) float64 { return off + slope*(float64(t1)-t) }, slope
}
