package mtu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var far, here = netip.MustParseAddr("192.0.2.200"), netip.MustParseAddr("192.0.2.100")

func router(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }

// scripted is a path by script: what comes of a packet of a size with a hop limit, in
// order of arrival.
type scripted struct {
	comes   func(hop, size int) []probe.Answer
	vague   bool
	waiting []probe.Answer
	sent    int
}

func (s *scripted) Send(_, hop int, number uint16, size int) error {
	s.sent++
	for _, a := range s.comes(hop, size) {
		a.Number, a.Vague, a.At = number, s.vague, sock.Now()
		s.waiting = append(s.waiting, a)
	}
	return nil
}

func (s *scripted) Receive(wait time.Duration, take func(probe.Answer)) error {
	if len(s.waiting) == 0 {
		time.Sleep(max(wait, 0))
		return nil
	}
	a := s.waiting[0]
	s.waiting = s.waiting[1:]
	take(a)
	return nil
}

func (s *scripted) Forget(uint16)          {}
func (s *scripted) Serial() bool           { return false }
func (s *scripted) Port(int) int           { return 1000 }
func (s *scripted) Local() netip.Addr      { return here }
func (s *scripted) Foreign() int64         { return 0 }
func (s *scripted) Close()                 {}
func (s *scripted) Timing() measure.Timing { return measure.Timing{} }

// road is a path of routers whose link behind router narrow carries packets of up to carries
// bytes; reports are the sizes reported for larger packets.
func road(routers, narrow, carries int, reports ...measure.MTUReport) func(int, int) []probe.Answer {
	return func(hop, size int) []probe.Answer {
		if hop <= narrow || size <= carries {
			if hop <= routers {
				return []probe.Answer{{Kind: probe.Expired, From: router(hop)}}
			}
			return []probe.Answer{{Kind: probe.Arrived, From: far}}
		}
		var out []probe.Answer
		for _, r := range reports {
			out = append(out, probe.Answer{Kind: probe.TooBig, From: netip.MustParseAddr(r.Address), MTU: r.Bytes})
		}
		return out
	}
}

func finderOf(s *scripted) *finder {
	o := measure.Options{Count: 3, Own: probe.Options{Probe: "icmp", MaxHops: 30}, Timeout: measure.Duration(time.Millisecond)}
	return &finder{
		asker: &asker{prober: s, target: far, o: o, answerTimeout: time.Millisecond},
		out:   &measure.PathMTU{Limit: measure.LimitUnknown, InterfaceBytes: 1500},
	}
}

// searched runs a search on a script, in simulated time.
func searched(t *testing.T, s *scripted) (m *measure.PathMTU, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { m, err = find(t.Context(), s) })
	return m, err
}

// find runs a search on a script.
func find(ctx context.Context, s *scripted) (*measure.PathMTU, error) {
	f := finderOf(s)
	err := f.search(ctx)
	if err == nil && f.out.FailedBytes > 0 {
		err = f.locate(ctx)
	}
	return f.out, err
}

func TestNoReportMovesTheResult(t *testing.T) {
	for i := range 12 {
		carries := smallIPv4 + rand.IntN(1500-smallIPv4)
		var lies []measure.MTUReport
		for k := range i % 4 {
			lies = append(lies, measure.MTUReport{Address: router(50 + k).String(), Bytes: rand.IntN(70000)})
		}
		t.Run(fmt.Sprintf("%d bytes, %v", carries, lies), func(t *testing.T) {
			t.Parallel()
			m, err := searched(t, &scripted{comes: road(3, 2, carries, lies...)})
			if err != nil || m.Bytes != carries || m.FailedBytes != carries+1 {
				t.Errorf("%d bytes, %d not: %v", m.Bytes, m.FailedBytes, err)
			}
			for _, r := range m.Reports {
				if r.Confirmed != (r.Bytes == carries) {
					t.Errorf("confirmed: %+v", r)
				}
			}
		})
	}
}

func TestAnEndlessChoiceOfReportsIsBounded(t *testing.T) {
	n := 0
	s := &scripted{}
	s.comes = func(hop, size int) []probe.Answer {
		n++
		return road(3, 2, 1000, measure.MTUReport{Address: router(9).String(), Bytes: 1001 + n%499})(hop, size)
	}
	m, err := searched(t, s)
	if err != nil || m.Bytes != 1000 || len(m.Reports) > 32 || s.sent > 400 {
		t.Errorf("%d bytes, %d reports, %d probes: %v", m.Bytes, len(m.Reports), s.sent, err)
	}
}

func TestEachSizeAndHopIsReportedBeforeItIsProbed(t *testing.T) {
	var reported []measure.MTUStep
	s := &scripted{comes: road(3, 2, 1400, measure.MTUReport{Address: router(2).String(), Bytes: 1400})}
	f := finderOf(s)
	f.view = func(step measure.MTUStep) {
		if sent := s.sent; len(reported) > 0 && sent == 0 {
			t.Errorf("%+v: nothing was sent before it", step)
		}
		reported = append(reported, step)
	}
	if err := f.search(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.locate(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []measure.MTUStep{
		{Asking: 68}, {Asking: 1500, Passed: 68}, {Asking: 1400, Passed: 68, Failed: 1500}, {Asking: 1401, Passed: 1400, Failed: 1500},
		{Asking: 1401, Hop: 1, Passed: 1400, Failed: 1401}, {Asking: 1401, Hop: 2, Passed: 1400, Failed: 1401},
		{Asking: 1401, Hop: 3, Passed: 1400, Failed: 1401}, {Asking: 1401, Hop: 4, Passed: 1400, Failed: 1401},
	}
	if !slices.Equal(reported, want) {
		t.Errorf("reported %+v\nwant %+v", reported, want)
	}
}

func TestTheFirstLinkCanBeTheBlackHole(t *testing.T) {
	m, err := searched(t, &scripted{comes: road(3, 0, 1300)})
	if err != nil || m.Limit != measure.LimitBlackHole || m.After.Hop != 0 || m.After.Address != here.String() || m.Before.Hop != 1 {
		t.Errorf("limit %s after %+v before %+v: %v", m.Limit, m.After, m.Before, err)
	}
}

func TestARouterThatNamesNoSizeIsBelievedWhereTheProbesEnd(t *testing.T) {
	for _, c := range []struct {
		from  int
		limit string
	}{{2, measure.LimitReported}, {1, measure.LimitBlackHole}} {
		m, err := searched(t, &scripted{comes: road(3, 2, 1300, measure.MTUReport{Address: router(c.from).String()})})
		if err != nil || m.Bytes != 1300 || m.Limit != c.limit {
			t.Errorf("from hop %d: %d bytes, limit %s: %v", c.from, m.Bytes, m.Limit, err)
		}
	}
}

func TestSilentHopsLeaveThePlaceUnknown(t *testing.T) {
	all := road(3, 2, 1300)
	m, err := searched(t, &scripted{comes: func(hop, size int) []probe.Answer {
		if hop != toTarget {
			return nil
		}
		return all(hop, size)
	}})
	if err != nil || m.Bytes != 1300 || m.Limit != measure.LimitUnknown || m.After != nil {
		t.Errorf("%d bytes, limit %s after %+v: %v", m.Bytes, m.Limit, m.After, err)
	}
}

func TestAStingyHopIsNotThePlace(t *testing.T) {
	all := road(5, 4, 1300)
	m, err := searched(t, &scripted{comes: func(hop, size int) []probe.Answer {
		if hop == 2 && size > 1000 {
			return nil // it answers small packets only
		}
		return all(hop, size)
	}})
	if err != nil || m.Limit != measure.LimitBlackHole || m.After.Hop != 4 || m.Before.Hop != 5 {
		t.Errorf("limit %s after %+v before %+v: %v", m.Limit, m.After, m.Before, err)
	}
}

func TestAnAnswerToSomeSizeIsNotOneToThisSize(t *testing.T) {
	_, err := searched(t, &scripted{vague: true, comes: road(3, 2, 1300)})
	if measure.KindOf(err) != measure.KindUnreachable {
		t.Errorf("answers without a number: %v", err)
	}
}

func TestAnInterruptEndsTheSearchSoon(t *testing.T) {
	tier.NeedsQuiet(t)
	ctx, cancel := context.WithCancel(t.Context())
	all := road(3, 2, 1300)
	var at time.Time
	m, err := find(ctx, &scripted{comes: func(hop, size int) []probe.Answer {
		if size > 1300 && at.IsZero() {
			at = time.Now()
			cancel()
		}
		return all(hop, size)
	}})
	if took := time.Since(at); !errors.Is(err, context.Canceled) || m.Bytes != smallIPv4 || took > 100*time.Millisecond {
		t.Errorf("%d bytes after %v: %v", m.Bytes, took, err)
	}
}
