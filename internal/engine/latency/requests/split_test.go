package requests

import (
	"math"
	"testing"

	"soku/internal/measure"
)

func TestAPassageIsSplitByItsTimes(t *testing.T) {
	whole := Passage{Sent: 1000, Left: 4000, Came: 104_000, Read: 110_000, In: 7_000_000, Out: 7_030_000}
	raw := whole
	raw.RawLeft, raw.RawCame = 500_000, 594_000
	change := func(f func(*Passage)) Passage { p := raw; f(&p); return p }

	s := NewSplits("eth9")
	for range 10 {
		s.Add(whole)
	}
	r := s.Result()
	addsUp(t, r)
	if r.HostSendNs.Mean != 3000 || r.PathNs.P50 < 69_900 || r.PathNs.P50 > 70_100 || r.InterfaceNs != nil || r.Unsplit != 0 || r.Stamps != measure.StampsSoftware {
		t.Errorf("%+v", r)
	}
	for range 11 {
		s.Add(raw)
	}
	r = s.Result()
	addsUp(t, r)
	if r.InterfaceNs == nil || math.Abs(r.Interface.Mean()-6000) > 1 || math.Abs(r.Path.Mean()-64_000) > 1 || r.Unsplit != 10 || r.Stamps != measure.StampsHardware || r.StampedBy != "eth9" {
		t.Errorf("with stamps of the interface: %+v", r)
	}

	for name, p := range map[string]Passage{
		"no time of leaving":         change(func(p *Passage) { p.Left = 0 }),
		"no time of coming":          change(func(p *Passage) { p.Came = 0 }),
		"no times of the far end":    change(func(p *Passage) { p.In, p.Out = 0, 0 }),
		"left before it was sent":    change(func(p *Passage) { p.Left = 999 }),
		"read before it came":        change(func(p *Passage) { p.Read = 103_999 }),
		"answered before it came":    change(func(p *Passage) { p.Out = p.In - 1 }),
		"longer far than on the way": change(func(p *Passage) { p.Out = p.In + 100_001 }),
	} {
		s := NewSplits("")
		if s.Add(p); s.Result() != nil {
			t.Errorf("%s: %+v", name, s.Result())
		}
		if s.Add(whole); s.Result().Unsplit != 1 {
			t.Errorf("%s: not counted as one that is not split", name)
		}
	}
	s = NewSplits("eth9")
	s.Add(change(func(p *Passage) { p.RawCame = p.RawLeft + 100_001 })) // no interface is outside of its kernel
	if r := s.Result(); r == nil || r.InterfaceNs != nil || r.Unsplit != 0 {
		t.Errorf("stamps of the interface that cannot be: %+v", r)
	}
}

// addsUp checks that the means of the parts are together that of the whole.
func addsUp(t *testing.T, s *measure.Split) {
	t.Helper()
	sum := 0.0
	for _, h := range []*measure.Histogram{s.HostSend, s.Interface, s.Path, s.FarHost, s.HostReceive} {
		if h != nil {
			sum += h.Mean()
		}
	}
	if math.Abs(sum-s.WholeNs.Mean) > 5 { // a part of nothing counts as 1 ns
		t.Errorf("the parts have a mean of %.1f together, the whole of %.1f", sum, s.WholeNs.Mean)
	}
}
