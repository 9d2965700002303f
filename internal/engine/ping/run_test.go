package ping

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var target = netip.MustParseAddr("192.0.2.9")

// script is a socket whose far end is a function: what it returns for a
// request arrives, in order.
type script struct {
	answer func(number int, request []byte) []arrival
	slow   time.Duration // from an arrival to the program

	mu      sync.Mutex
	sent    int
	arrived chan arrival
	sendErr error

	// The kernel's time stamp of a request, and when it is reported; nil: never.
	left       func(request []byte, handed time.Time) (packet []byte, at time.Time)
	reported   []byte
	reportedAt time.Time
}

func newScript(answer func(int, []byte) []arrival) *script {
	return &script{answer: answer, arrived: make(chan arrival, 10_000)}
}

func (s *script) send(request []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sendErr != nil {
		return s.sendErr
	}
	if s.left != nil {
		s.reported, s.reportedAt = s.left(request, time.Now())
	}
	for _, a := range s.answer(s.sent, request) {
		if !a.from.IsValid() {
			a.from = target
		}
		s.arrived <- a
	}
	s.sent++
	return nil
}

func (s *script) receive(wait time.Duration) (arrival, error) {
	select {
	case a := <-s.arrived:
		time.Sleep(s.slow)
		a.at = time.Now()
		return a, nil
	case <-time.After(wait):
		return arrival{}, errTick
	}
}

func (s *script) departed() ([]byte, time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reported := s.reported
	s.reported = nil
	return reported, s.reportedAt, reported != nil
}

func (s *script) ownsID() bool           { return true }
func (s *script) close()                 {}
func (s *script) timing() measure.Timing { return measure.Timing{} }

// echoed is the honest reply to a request.
func echoed(request []byte) arrival {
	b := append([]byte(nil), request...)
	b[0] = 0
	return arrival{message: b}
}

// options are for runs in which every request is answered: the timeout is far
// longer than this machine may stand still.
func options(count int64, size int) measure.Options {
	o := option.Defaults(measure.TestPing)
	o.Duration, o.Count, o.Size = 0, count, measure.Size(size)
	o.Own = Options{Spacing: measure.Duration(time.Millisecond)}
	o.Timeout = measure.Duration(20 * time.Second)
	return o
}

// lossy are for runs in which replies are missing.
func lossy(count int64, size int) measure.Options {
	o := options(count, size)
	o.Timeout = measure.Duration(100 * time.Millisecond)
	return o
}

func TestEveryAnsweredRequestCounts(t *testing.T) {
	s := newScript(func(_ int, r []byte) []arrival { return []arrival{echoed(r)} })
	var seen int64
	l, err := newPinger(s, target, options(50, 56)).run(t.Context(), func(p measure.Progress) { seen += p.Packets })
	if err != nil || l.Sent != 50 || l.Received != 50 || l.Lost != 0 || l.Duplicated != 0 || l.Histogram.Count() != 50 {
		t.Fatalf("got %+v, %v", l, err)
	}
	if seen != 50 {
		t.Errorf("live intervals showed %d replies", seen)
	}
}

func TestRepliesThatAreNotOursAreIgnored(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, size := range []int{0, 4, 8, 12, 16, 56} {
		s := newScript(func(_ int, r []byte) []arrival {
			otherID := echoed(r)
			otherID.message[4] ^= 1
			otherToken := echoed(r)
			if size >= tokenSize {
				otherToken.message[headerSize] ^= 1
			} else {
				otherToken.from = netip.MustParseAddr("192.0.2.10") // tiny payloads: by address
			}
			request := arrival{message: r}
			future := echoed(r)
			future.message[6] ^= 0x80 // sequence number
			if size >= numberedLen {
				future.message[headerSize+tokenSize] ^= 0x80
			}
			return []arrival{otherID, otherToken, request, future, {message: nil}, {message: []byte{0}}}
		})
		l, err := newPinger(s, target, lossy(5, size)).run(t.Context(), nil)
		if err != nil || l.Received != 0 || l.Lost != 5 || l.Duplicated != 0 {
			t.Errorf("%d bytes: received %d, lost %d, duplicated %d, %v; want all 5 lost", size, l.Received, l.Lost, l.Duplicated, err)
		}
	}
}

func TestDuplicatesCountApart(t *testing.T) {
	for _, size := range []int{0, 8, 56} {
		s := newScript(func(_ int, r []byte) []arrival { return []arrival{echoed(r), echoed(r), echoed(r)} })
		l, err := newPinger(s, target, options(10, size)).run(t.Context(), nil)
		// The last request's duplicates may come after the run has ended.
		if err != nil || l.Received != 10 || l.Duplicated < 18 || l.Duplicated > 20 || l.Histogram.Count() != 10 {
			t.Errorf("%d bytes: received %d, duplicated %d, %v", size, l.Received, l.Duplicated, err)
		}
	}
}

func TestALateReplyIsLostAndAnswersNoOtherRequest(t *testing.T) {
	tier.NeedsQuiet(t)
	var late []arrival
	s := newScript(func(n int, r []byte) []arrival {
		switch n {
		case 0:
			late = []arrival{echoed(r)}
			return nil
		case 150: // 150 ms later, with a timeout of 100 ms
			return append(late, echoed(r))
		}
		return []arrival{echoed(r)}
	})
	l, err := newPinger(s, target, lossy(200, 56)).run(t.Context(), nil)
	if err != nil || l.Received+l.Lost != 200 || l.Lost < 1 || l.Received < 1 || l.Duplicated != 0 {
		t.Fatalf("received %d, lost %d, duplicated %d, %v", l.Received, l.Lost, l.Duplicated, err)
	}
	if most := time.Duration(l.Histogram.Max()); most > 100*time.Millisecond {
		t.Errorf("a round trip of %v was counted, over the timeout", most)
	}
}

func TestTheKernelsDelayIsTakenOff(t *testing.T) {
	const asleep = 30 * time.Millisecond
	run := func(reported time.Duration) *measure.Histogram {
		s := newScript(func(_ int, r []byte) []arrival {
			a := echoed(r)
			a.delay = reported
			return []arrival{a}
		})
		s.slow = asleep
		l, err := newPinger(s, target, options(3, 56)).run(t.Context(), nil)
		if err != nil || l.Received != 3 {
			t.Fatalf("got %+v, %v", l, err)
		}
		return l.Histogram
	}
	if got := time.Duration(run(0).Min()); got < asleep*99/100 {
		t.Errorf("the program slept for %v after the arrival, without a stamp the time is %v", asleep, got)
	}
	if got := time.Duration(run(asleep).Min()); got >= asleep {
		t.Errorf("the kernel had the reply %v earlier, the time is %v", asleep, got)
	}
	if got := time.Duration(run(time.Minute).Min()); got < asleep*99/100 {
		t.Errorf("a stamp from before the request was believed: %v", got)
	}
}

func TestRequestsCountFromWhenTheyLeft(t *testing.T) {
	tier.SpendsSeconds(t)
	const within = 50 * time.Millisecond // the request was in the kernel before it left
	for name, c := range map[string]struct {
		left func([]byte, time.Time) ([]byte, time.Time)
		less bool
	}{
		"never reported": {nil, false},
		"later": {func(b []byte, at time.Time) ([]byte, time.Time) {
			return append(make([]byte, 34), b...), at.Add(within)
		}, true},
		"before":  {func(b []byte, at time.Time) ([]byte, time.Time) { return b, at.Add(-within) }, false},
		"unknown": {func(b []byte, _ time.Time) ([]byte, time.Time) { return b, time.Time{} }, false},
		"another's": {func(b []byte, at time.Time) ([]byte, time.Time) {
			return append(b[:8:8], make([]byte, len(b)-8)...), at.Add(within)
		}, false},
		"cut on the way":  {func(b []byte, at time.Time) ([]byte, time.Time) { return b[:len(b)-1], at.Add(within) }, false},
		"next to nothing": {func(_ []byte, at time.Time) ([]byte, time.Time) { return []byte{1}, at.Add(within) }, false},
	} {
		s := newScript(func(_ int, b []byte) []arrival { return []arrival{echoed(b)} })
		s.slow, s.left = 2*within, c.left
		l, err := newPinger(s, target, options(1, 56)).run(t.Context(), nil)
		if err != nil || l.Received != 1 {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		if got := time.Duration(l.Histogram.Min()); (got < 2*within-within/10) != c.less {
			t.Errorf("%s: a round trip of %v for one of %v, of which %v in the kernel", name, got, 2*within, within)
		}
	}
}

func TestOnlyErrorsMakeItUnreachable(t *testing.T) {
	fail := func(n int, r []byte) []arrival {
		id := uint16(r[4])<<8 | uint16(r[5])
		b := unreachable(t, false, 3, 1, id, uint64(n))
		return []arrival{{message: b, from: netip.MustParseAddr("198.51.100.1")}}
	}
	l, err := newPinger(newScript(fail), target, lossy(5, 56)).run(t.Context(), nil)
	if measure.KindOf(err) != measure.KindUnreachable || l == nil || l.Sent != 5 || l.Lost != 5 {
		t.Fatalf("got %+v, %v", l, err)
	}
	if want := "ping 192.0.2.9: the host does not answer on its network, says 198.51.100.1"; measure.AsError(err, "").Message != want {
		t.Errorf("got %q, want %q", err, want)
	}
	// One reply makes it a reachable host with losses.
	l, err = newPinger(newScript(func(n int, r []byte) []arrival {
		if n == 3 {
			return []arrival{echoed(r)}
		}
		return fail(n, r)
	}), target, lossy(5, 56)).run(t.Context(), nil)
	if err != nil || l.Received != 1 || l.Lost != 4 {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestErrorsAboutOthersAreIgnored(t *testing.T) {
	s := newScript(func(n int, r []byte) []arrival {
		id := uint16(r[4])<<8 | uint16(r[5])
		elsewhere := unreachable(t, false, 3, 1, id, uint64(n))
		elsewhere[headerSize+19] = 10 // it was going to 192.0.2.10
		return []arrival{{message: unreachable(t, false, 3, 1, id^1, uint64(n))}, {message: elsewhere}}
	})
	if l, err := newPinger(s, target, lossy(3, 56)).run(t.Context(), nil); err != nil || l.Lost != 3 {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestTheFirstSendMayFail(t *testing.T) {
	s := newScript(nil)
	s.sendErr = errors.New("no route")
	l, err := newPinger(s, target, options(3, 56)).run(t.Context(), nil)
	if measure.KindOf(err) != measure.KindUnreachable || l.Sent != 0 {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestAnEndedContextEndsItWithWhatWasCounted(t *testing.T) {
	tier.NeedsQuiet(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	var ended time.Time
	s := newScript(func(n int, r []byte) []arrival {
		if n == 5 {
			ended = time.Now()
			cancel(why)
		}
		return []arrival{echoed(r)}
	})
	o := options(0, 56)
	o.Duration, o.Own = measure.Duration(time.Hour), Options{Spacing: measure.Duration(5 * time.Millisecond)}
	l, err := newPinger(s, target, o).run(ctx, nil)
	took := time.Since(ended)
	if !errors.Is(err, why) || l == nil || l.Received < 1 {
		t.Fatalf("got %+v, %v", l, err)
	}
	if took > 100*time.Millisecond {
		t.Errorf("it took %v to end", took)
	}
}

func TestWhatCannotBeIsUsage(t *testing.T) {
	for name, change := range map[string]func(*measure.Options){
		"no end":        func(o *measure.Options) { o.Count = 0 },
		"too long":      func(o *measure.Options) { o.Size = 65508 },
		"negative":      func(o *measure.Options) { o.Size = -1 },
		"no spacing":    func(o *measure.Options) { o.Own = Options{} },
		"no timeout":    func(o *measure.Options) { o.Timeout = 0 },
		"bind to a v6":  func(o *measure.Options) { o.Bind = "::1" },
		"bind to words": func(o *measure.Options) { o.Bind = "eth0" },
	} {
		o := options(1, 56)
		change(&o)
		if _, err := Run(t.Context(), netip.MustParseAddr("127.0.0.1"), o, nil); err == nil || measure.KindOf(err) != measure.KindUsage && measure.KindOf(err) != measure.KindPermission {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Run(t.Context(), netip.Addr{}, options(1, 56), nil); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("no address: got %v", err)
	}
}
