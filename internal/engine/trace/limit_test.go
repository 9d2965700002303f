package trace

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// bucket limits the answers of a node as Linux does: per destination host, full at first
// unless somebody has used it up (inet_peer_xrlim_allow in net/ipv4/inetpeer.c).
type bucket struct {
	tokens, most float64
	refill       time.Duration
	at           time.Time
}

func (b *bucket) allow() bool {
	now := sock.Now()
	b.tokens = min(b.most, b.tokens+now.Sub(b.at).Seconds()/b.refill.Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// network is an emulated one of nodes that limit their answers.
type network struct {
	paths   [][]netip.Addr // of each flow; the last is the target
	burst   float64
	refill  time.Duration // 0: no limit
	drained bool          // the buckets are empty at first
	silent  []netip.Addr
	echo    bool // the target's answers are not limited
	loss    float64
	random  *rand.Rand
	buckets map[netip.Addr]*bucket
}

func (n *network) answer(flow, hop int) probe.Answer {
	path := n.paths[flow]
	a := probe.Answer{Kind: probe.Expired}
	if hop >= len(path) {
		hop, a.Kind = len(path), probe.Arrived
	}
	a.From = path[hop-1]
	if slices.Contains(n.silent, a.From) || n.loss > 0 && n.random.Float64() < n.loss {
		return probe.Answer{}
	}
	if n.refill == 0 || n.echo && a.Kind == probe.Arrived {
		return a
	}
	if n.buckets == nil {
		n.buckets = map[netip.Addr]*bucket{}
	}
	b := n.buckets[a.From]
	if b == nil {
		b = &bucket{tokens: n.burst, most: n.burst, refill: n.refill, at: sock.Now()}
		if n.drained {
			b.tokens = 0
		}
		n.buckets[a.From] = b
	}
	if !b.allow() {
		return probe.Answer{}
	}
	return a
}

// over returns the paths of flows that a hash spreads over branches.
func over(flows int, seed uint64, branches ...[]netip.Addr) (paths [][]netip.Addr) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range flows {
		paths = append(paths, branches[r.IntN(len(branches))])
	}
	return paths
}

func nodes(numbers ...int) (list []netip.Addr) {
	for _, n := range numbers {
		if n == 200 {
			list = append(list, far)
		} else {
			list = append(list, router(n))
		}
	}
	return list
}

func text(path []netip.Addr) string {
	var parts []string
	for _, a := range path {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, ">")
}

// Hosts and routers answer a burst of six probes and then one a second. This must not show as a
// hop, a branch or loss.
func TestLimitedAnswersInventNothing(t *testing.T) {
	for _, c := range []struct {
		name     string
		flows    int
		branches [][]netip.Addr
		within   time.Duration
	}{
		{"two hosts on one cable", 16, [][]netip.Addr{nodes(200)}, 25 * time.Second},
		{"two hosts on one cable, few flows", 4, [][]netip.Addr{nodes(200)}, 12 * time.Second},
		{"two tunnels", 16, [][]netip.Addr{nodes(1, 2, 200), nodes(1, 3, 200)}, 35 * time.Second},
		{"three tunnels", 16, [][]netip.Addr{nodes(1, 2, 200), nodes(1, 3, 200), nodes(1, 4, 200)}, 35 * time.Second},
		{"four tunnels", 32, [][]netip.Addr{nodes(1, 2, 200), nodes(1, 3, 200), nodes(1, 4, 200), nodes(1, 5, 200)}, 45 * time.Second},
		{"tunnels of unequal length", 16, [][]netip.Addr{nodes(1, 9, 200), nodes(1, 2, 9, 200), nodes(1, 3, 4, 9, 200)}, 45 * time.Second},
		{"branches that do not join again", 16, [][]netip.Addr{nodes(1, 2, 3, 200), nodes(1, 4, 5, 6, 200)}, 45 * time.Second},
		{"a long path", 8, [][]netip.Addr{nodes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 200)}, 35 * time.Second},
	} {
		for _, drained := range []bool{false, true} {
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) {
					n := &network{paths: over(c.flows, seed, c.branches...), burst: 6, refill: time.Second, drained: drained}
					delay := time.Duration(seed) * 36 * time.Millisecond
					begun := sock.Now()
					tr := traced(t, &scripted{hop: n.answer, delay: delay}, usual(c.flows))
					name := fmt.Sprintf("%s, drained %v, delay %v", c.name, drained, delay)
					exact(t, name, tr, n.paths)
					if took := sock.Since(begun); took > c.within {
						t.Errorf("%s: it took %v", name, took)
					}
				})
			}
		}
	}
}

// usual are the default options.
func usual(flows int) measure.Options {
	o := option.Defaults(measure.TestTrace)
	o.Flows, o.Own = flows, probe.Options{Probe: "udp", MaxHops: 30}
	return o
}

// exact compares a trace with the paths of the flows.
func exact(t *testing.T, name string, tr *measure.Trace, paths [][]netip.Addr) {
	t.Helper()
	longest := 0
	known := tr.Known()
	for i, path := range paths {
		longest = max(longest, len(path))
		if got := strings.Join(tr.Flows[i].Path, ">"); got != text(path) || !known[i] || !tr.Flows[i].Reached {
			t.Errorf("%s: flow %d takes %s, not %s (known %v, reached %v)", name, i, got, text(path), known[i], tr.Flows[i].Reached)
		}
	}
	if len(tr.Hops) != longest || tr.Outstanding != 0 {
		t.Errorf("%s: %d hops, want %d; %d outstanding", name, len(tr.Hops), longest, tr.Outstanding)
	}
	for _, h := range tr.Hops {
		if h.Lost != 0 || h.LossRatio != 0 {
			t.Errorf("%s: hop %d: %d of %d lost", name, h.Hop, h.Lost, h.Due)
		}
	}
}

// A router that answers no probe is a silent hop of each path and has no loss; it does not change
// the distance of the target.
func TestASilentRouterHasNoLossAndNoTargetIsMoved(t *testing.T) {
	for _, drained := range []bool{false, true} {
		for flows := 1; flows <= 16; flows *= 4 {
			synctest.Test(t, func(t *testing.T) {
				n := &network{paths: over(flows, 1, nodes(1, 2, 3, 200)), burst: 6, refill: time.Second, drained: drained, silent: nodes(3)}
				o := usual(flows)
				o.Count = 1
				tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, o)
				if len(tr.Hops) != 4 || len(tr.Hops[2].Nodes) != 0 || tr.Hops[2].Lost != 0 || tr.Hops[2].LossKnown() {
					t.Fatalf("drained %v, %d flows: hops %+v", drained, flows, tr.Hops)
				}
				for _, f := range tr.Flows {
					if f.Uncertain || !f.Reached || len(f.Path) != 4 {
						t.Errorf("drained %v: %+v", drained, f)
					}
				}
				if slices.Contains(tr.Known(), false) {
					t.Errorf("drained %v, %d flows: known %v", drained, flows, tr.Known())
				}
			})
		}
	}
}

// The paths of flows over a branch whose router is silent are not known.
func TestFlowsOverASilentBranchAreNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{paths: over(16, 1, nodes(1, 2, 4, 200), nodes(1, 3, 4, 200)), burst: 6, refill: time.Second, silent: nodes(3)}
		tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, usual(16))
		for i, known := range tr.Known() {
			if known != (n.paths[i][1] == router(2)) {
				t.Errorf("flow %d over %v: known %v, path %v", i, n.paths[i], known, tr.Flows[i].Path)
			}
		}
		if len(tr.Hops) != 4 || tr.Hops[1].Lost != 0 {
			t.Errorf("hops %+v", tr.Hops)
		}
	})
}

// Nodes without a limit are probed by each flow in each round, and what they do not answer is
// lost.
func TestLossIsNotTakenForALimit(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			n := &network{paths: over(16, seed, nodes(1, 2, 200)), loss: 0.05, random: rand.New(rand.NewPCG(seed, 2))}
			o := usual(16)
			o.Count = 50
			tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, o)
			exactPaths(t, tr, n.paths)
			for _, h := range tr.Hops {
				// 800 probes: four standard errors of 0.8 %.
				if h.Due < 400 || h.LossRatio < 0.02 || h.LossRatio > 0.085 || h.Limit != nil {
					t.Errorf("seed %d: hop %d: sent %d, due %d, lost %d, unanswered %d, limit %v", seed, h.Hop, h.Sent, h.Due, h.Lost, h.Unanswered, h.Limit)
				}
			}
		})
	}
}

// Loss shows although answers are limited, from the probes to which one was due.
func TestLossShowsBesideALimit(t *testing.T) {
	var due, lost int64
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			n := &network{paths: over(8, seed, nodes(1, 200)), burst: 6, refill: time.Second, loss: 0.1, random: rand.New(rand.NewPCG(seed, 3))}
			o := usual(8)
			o.Count = 60
			tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, o)
			if len(tr.Hops) != 2 {
				t.Fatalf("hops %+v", tr.Hops)
			}
			for _, h := range tr.Hops {
				due, lost = due+h.Due, lost+h.Lost
				if h.Limit == nil || h.Limit.PerSecond < 0.6 || h.Limit.PerSecond > 1.1 {
					t.Errorf("seed %d: limit %+v", seed, h.Limit)
				}
			}
		})
	}
	if ratio := float64(lost) / float64(due); ratio < 0.07 || ratio > 0.14 {
		t.Errorf("%d of %d lost, want a tenth", lost, due)
	}
}

// Without limits a trace takes no longer than its rounds, and probes every hop of every flow
// in each of them.
func TestNodesWithoutALimitAreProbedInEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{paths: over(16, 1, nodes(1, 2, 200), nodes(1, 3, 200))}
		begun := sock.Now()
		tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, usual(16))
		exact(t, "no limits", tr, n.paths)
		for _, h := range tr.Hops {
			if h.Sent != 160 || h.Due != 160 {
				t.Errorf("hop %d: %d sent, %d due", h.Hop, h.Sent, h.Due)
			}
		}
		if took := sock.Since(begun); took > 9500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// A target that answers segments or echoes without a limit is probed in each round, whatever
// the routers do.
func TestATargetWithoutALimitOwesEveryAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{paths: over(8, 1, nodes(1, 2, 200)), burst: 6, refill: time.Second, echo: true}
		o := usual(8)
		o.Own = probe.Options{Probe: "tcp", MaxHops: 30}
		tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, o)
		exact(t, "tcp", tr, n.paths)
		if h := tr.Hops[2]; h.Sent < 80 || h.Due != h.Sent {
			t.Errorf("target: %+v", h)
		}
	})
}

// A stricter limit than Linux has may leave flows unknown, but invents nothing.
func TestAStricterLimitLeavesFlowsUnknownAtMost(t *testing.T) {
	for _, refill := range []time.Duration{2 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{paths: over(16, 5, nodes(1, 2, 200), nodes(1, 3, 200)), burst: 1, refill: refill}
			begun := sock.Now()
			tr := traced(t, &scripted{hop: n.answer, delay: 3 * time.Millisecond}, usual(16))
			noInventions(t, fmt.Sprintf("refill %v", refill), tr, n.paths)
			if took := sock.Since(begun); took > 70*time.Second {
				t.Errorf("refill %v: it took %v", refill, took)
			}
		})
	}
}

// Two concurrent traces share the limit of answers to this host. Both take longer and may leave
// flows unknown; neither reports the answers to the other as loss.
func TestTwoTracesAtOnceShareALimitAndInventNoLoss(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			n := &network{paths: over(8, seed, nodes(1, 2, 200), nodes(1, 3, 200)), burst: 6, refill: time.Second}
			var alone sync.Mutex
			answer := func(flow, hop int) probe.Answer {
				alone.Lock()
				defer alone.Unlock()
				return n.answer(flow, hop)
			}
			var both sync.WaitGroup
			for i := range 2 {
				both.Go(func() {
					time.Sleep(time.Duration(i) * time.Duration(seed) * 300 * time.Millisecond)
					tr := newTracer(&scripted{hop: answer, delay: 3 * time.Millisecond}, far, usual(8))
					if err := tr.run(t.Context(), nil); err != nil {
						t.Error(err)
						return
					}
					noInventions(t, fmt.Sprintf("seed %d, trace %d", seed, i), tr.result(), n.paths)
				})
			}
			both.Wait()
		})
	}
}

// noInventions compares the known paths of a network of three hops with the true ones.
func noInventions(t *testing.T, name string, tr *measure.Trace, paths [][]netip.Addr) {
	t.Helper()
	known := tr.Known()
	for i, f := range tr.Flows {
		if known[i] && strings.Join(f.Path, ">") != text(paths[i]) {
			t.Errorf("%s: flow %d takes %v, not %v", name, i, f.Path, paths[i])
		}
	}
	if len(tr.Hops) > 3 {
		t.Errorf("%s: %d hops", name, len(tr.Hops))
	}
	for _, h := range tr.Hops {
		if h.Lost > 0 {
			t.Errorf("%s: %d of %d lost at hop %d", name, h.Lost, h.Due, h.Hop)
		}
	}
}

func exactPaths(t *testing.T, tr *measure.Trace, paths [][]netip.Addr) {
	t.Helper()
	for i, path := range paths {
		if got := strings.Join(tr.Flows[i].Path, ">"); got != text(path) {
			t.Errorf("flow %d takes %s, not %s", i, got, text(path))
		}
	}
}
