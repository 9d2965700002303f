package schedule

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"soku/internal/campaign/bitset"
	"soku/internal/campaign/plan"
	"soku/test/tier"
)

// mesh is a block with a trial for each directed pair of n hosts.
func mesh(n int) Block {
	hosts := make([]string, n)
	for i := range hosts {
		hosts[i] = fmt.Sprint("h", i)
	}
	return Block{Round: 1, Pattern: &plan.Pattern{}, Hosts: hosts, Len: n * (n - 1), Slot: func(i int) Slot {
		client, server := i/(n-1), i%(n-1)
		if server >= client {
			server++
		}
		return Slot{Client: client, Server: server}
	}}
}

func queueOf(b Block, inOrder bool) *Queue {
	q := NewQueue(b, inOrder)
	for i := 0; i < b.Len; i++ {
		if g := b.Slot(i).Group; g == 0 || i == 0 || b.Slot(i-1).Group != g {
			q.Add(i)
		}
	}
	return q
}

// runQueue runs a queue in simulated time: each unit takes what length says, and at most
// limit trials run concurrently. It returns how long all took and how long each host
// was busy, and fails the test if a host was in two concurrent units or a trial ran
// twice or never.
func runQueue(t testing.TB, q *Queue, limit int, length func(u Unit) float64) (total float64, busy []float64) {
	busy = make([]float64, len(q.block.Hosts))
	occupied := bitset.New(len(busy))
	ran := bitset.New(q.block.Len)
	done, running := 0, 0
	var ends ending
	for {
		for running < limit {
			u, ok := q.Take(limit - running)
			if !ok {
				break
			}
			for h := range u.Hosts() {
				if occupied.Has(h) {
					t.Fatalf("host %d has two trials at once", h)
				}
				occupied.Add(h)
			}
			for i := u.First; i < u.First+u.Count; i++ {
				if ran.Has(i) {
					t.Fatalf("trial %d runs twice", i)
				}
				ran.Add(i)
			}
			running += u.Count
			d := length(u)
			for h := range u.Hosts() {
				busy[h] += d
			}
			ends.push(end{total + d, u})
		}
		if len(ends) == 0 {
			break
		}
		e := ends.pop()
		total = e.at
		running -= e.unit.Count
		done += e.unit.Count
		for h := range e.unit.Hosts() {
			occupied.Remove(h)
		}
		q.Release(e.unit)
	}
	if done != q.block.Len || q.Waiting != 0 || len(q.list) != 0 || slices.Max(q.left) != 0 {
		t.Fatalf("%d of %d trials ran; %d wait, %d units are listed", done, q.block.Len, q.Waiting, len(q.list))
	}
	return total, busy
}

// lengths are those of trials whose duration is fixed, and whose handshake and
// end vary, as in practice: 10 s, and up to 4 s more.
func lengths(seed uint64) func(Unit) float64 {
	g := rand.New(rand.NewPCG(seed, 1))
	return func(Unit) float64 { return 10 + 4*g.Float64() }
}

func hostsOf(u Unit) []int { return slices.Collect(u.Hosts()) }

func idle(total float64, busy []float64) float64 {
	sum := 0.0
	for _, b := range busy {
		sum += b
	}
	return 1 - sum/(total*float64(len(busy)))
}

func TestHostsOfAMeshAreHardlyEverIdle(t *testing.T) {
	// A pair that ends at one moment has only itself to go on with; the fewer other
	// pairs run, the longer until another ends. So small meshes idle more.
	for n, most := range map[int]float64{20: 0.12, 50: 0.06, 100: 0.04, 200: 0.03, 400: 0.02} {
		for seed := range uint64(3) {
			total, busy := runQueue(t, queueOf(mesh(n), false), n, lengths(seed))
			share := idle(total, busy)
			t.Logf("%d hosts, seed %d: idle %.1f %%", n, seed, 100*share)
			if share > most {
				t.Errorf("%d hosts, seed %d: idle %.1f %% of the time, want at most %.0f %%", n, seed, 100*share, 100*most)
			}
		}
	}
}

// One trial in a hundred is lost: its hosts have worked for nothing, wait a second and measure again.
func TestHostsOfAMeshAreHardlyIdleWhenTrialsAreLost(t *testing.T) {
	for n, most := range map[int]float64{100: 0.06, 1000: 0.03} {
		g, length, wasted, lost := rand.New(rand.NewPCG(1, 2)), lengths(3), 0.0, 0
		total, busy := runQueue(t, queueOf(mesh(n), false), n, func(u Unit) float64 {
			took := length(u)
			if g.IntN(100) > 0 {
				return took
			}
			lost++
			again := took*g.Float64() + 1
			wasted += 2 * again // both hosts
			return took + again
		})
		share := idle(total, busy) + wasted/(total*float64(n))
		t.Logf("%d hosts, %d of %d trials lost: idle or wasted %.1f %%", n, lost, n*(n-1), 100*share)
		if lost < n*(n-1)/200 || share > most {
			t.Errorf("%d hosts, %d trials lost: idle or wasted %.1f %% of the time, want at most %.0f %%", n, lost, 100*share, 100*most)
		}
	}
}

func TestALimitHoldsAndIsUsed(t *testing.T) {
	for _, limit := range []int{1, 3, 7} {
		total, _ := runQueue(t, queueOf(mesh(20), false), limit, func(Unit) float64 { return 1 })
		if want := float64((20*19 + limit - 1) / limit); total > want+1 || total < want {
			t.Errorf("380 trials of 1 s, %d at once, take %v s; want %v", limit, total, want)
		}
	}
}

func TestInOrderMeansTheBlocksOrder(t *testing.T) {
	b := mesh(6)
	q := queueOf(b, true)
	for want := range b.Len {
		u, ok := q.Take(1)
		if !ok || u.First != want || u.Count != 1 {
			t.Fatalf("took %v, want trial %d", u, want)
		}
		q.Release(u)
	}
}

func TestTrialsOfOnePairKeepTheirOrder(t *testing.T) {
	b := Block{Hosts: []string{"a", "b"}, Len: 5, Slot: func(i int) Slot { return Slot{Client: i % 2, Server: 1 - i%2} }}
	q := queueOf(b, false)
	for want := range b.Len {
		u, ok := q.Take(9)
		if !ok || u.First != want || u.Count != 1 {
			t.Fatalf("took %v, want trial %d", u, want)
		}
		if more, ok := q.Take(9); ok {
			t.Fatalf("took %v while both hosts are busy", more)
		}
		q.Release(u)
	}
}

// withGroups is a mesh with, before it, a group of two trials on hosts 0 to 3
// and a trial that also occupies host 3.
func withGroups(n int) Block {
	m := mesh(n)
	first := []Slot{{Client: 0, Server: 1, Group: 7}, {Client: 2, Server: 3, Group: 7}, {Client: 0, Server: 1, Others: []int{3}}}
	b := m
	b.Len += len(first)
	b.Slot = func(i int) Slot {
		if i < len(first) {
			return first[i]
		}
		return m.Slot(i - len(first))
	}
	return b
}

func TestAGroupTakesAllItsHostsAtOnce(t *testing.T) {
	q := queueOf(withGroups(6), false)
	if u, ok := q.Take(1); !ok || u.First != 2 || u.Count != 1 || !slices.Equal(hostsOf(u), []int{0, 1, 3}) {
		t.Fatalf("with room for one, took %+v; want the trial on three hosts", u)
	} else {
		q.Release(u)
	}
	u, ok := q.Take(2)
	if !ok || u.First != 0 || u.Count != 2 || !slices.Equal(hostsOf(u), []int{0, 1, 2, 3}) {
		t.Fatalf("took %+v, want the group", u)
	}
	next, ok := q.Take(1)
	if !ok || slices.Min(hostsOf(next)) < 4 {
		t.Errorf("beside the group took %+v, want hosts 4 and 5", next)
	}
	if more, ok := q.Take(9); ok {
		t.Errorf("took %+v while all hosts are busy", more)
	}
	for seed := range uint64(3) {
		runQueue(t, queueOf(withGroups(9), false), 4, lengths(seed))
		runQueue(t, queueOf(withGroups(9), true), 4, lengths(seed))
	}
}

func TestAHostThatGoesAwayTakesItsTrialsAlong(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		b := withGroups(5)
		q := queueOf(b, inOrder)
		lost := q.Lose(3)
		want := 2 + 1 + 2*4 // the group, the trial on three hosts, both ways with four others
		if len(lost) != want || !slices.IsSorted(lost) || q.Waiting != b.Len-want {
			t.Errorf("in order %v: lost %v, %d are left", inOrder, lost, q.Waiting)
		}
		q.Restore(3)
		ran := len(lost)
		for {
			u, ok := q.Take(1)
			if !ok {
				break
			}
			if u.Occupies(3) || slices.Contains(lost, u.First) {
				t.Errorf("in order %v: took %+v", inOrder, u)
			}
			ran += u.Count
			q.Release(u)
		}
		if ran != b.Len || slices.Max(q.left) != 0 {
			t.Errorf("in order %v: %d of %d trials ran or were lost", inOrder, ran, b.Len)
		}
	}
}

func TestAHostIsLostWhileItRuns(t *testing.T) {
	q := queueOf(mesh(4), false)
	u, _ := q.Take(1)
	h := u.pair[0]
	if lost := q.Lose(h); len(lost) != 5 { // of its six trials one runs
		t.Errorf("lost %v", lost)
	}
	q.Release(u)
	for {
		v, ok := q.Take(1)
		if !ok {
			break
		}
		if v.Occupies(h) {
			t.Fatalf("took %+v, though host %d is gone", v, h)
		}
		q.Release(v)
	}
	if q.Waiting != 0 {
		t.Errorf("%d trials wait for ever", q.Waiting)
	}
}

func TestManyHostsWithFewPairsArePlanned(t *testing.T) {
	const n = 5000 // more than a table of all pairs is made for
	hosts := make([]string, n)
	b := Block{Hosts: hosts, Len: 2 * (n - 1), Slot: func(i int) Slot { return Slot{Client: 0, Server: 1 + i/2} }}
	if total, _ := runQueue(t, queueOf(b, false), n, func(Unit) float64 { return 1 }); total != float64(b.Len) {
		t.Errorf("%d trials at one server take %v turns", b.Len, total)
	}
}

// A thousand hosts have 999,000 directed pairs. The bounds are generous: this took
// a third of a second of a processor and 6 MB when it was written; BenchmarkPlanAMesh
// says what it takes.
// One goroutine plans 999,000 trials: nothing to race.
func TestAThousandHostsArePlannedInLittleMemory(t *testing.T) {
	tier.WatchesTheClock(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	q := queueOf(mesh(1000), false)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 50e6 {
		t.Errorf("the queue holds %d bytes", used)
	}
	total, busy := runQueue(t, q, 1000, lengths(1))
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("planning took %s", took)
	}
	if share := idle(total, busy); share > 0.02 {
		t.Errorf("hosts are idle %.1f %% of the time", 100*share)
	}
}

func BenchmarkPlanAMesh(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		runQueue(b, queueOf(mesh(1000), false), 1000, func(Unit) float64 { return 1 })
	}
}
