package plan_test

import (
	"runtime"
	"soku/test/plans"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

// allocated is how many bytes f allocates in all, those that it frees among them.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A mesh of 1,000 hosts is a block of 999,000 trials. What a block holds, and all that is
// allocated to make it, stay below 50 MB; trials are made when they are asked for.
func TestAMeshOfAThousandHostsTakesLittleMemory(t *testing.T) {
	p := plans.Parse(t, plans.ManyHosts(1000)+"pairs: {mesh: ['*']}\nrounds: 1\n")
	if p.PairCount() != 999_000 || p.Trials() != 999_000 {
		t.Fatalf("%d pairs, %d trials", p.PairCount(), p.Trials())
	}
	seen := 0
	used := allocated(func() {
		for b := range schedule.Blocks(p, "c", 1) {
			seen += b.Len
			if b.Len != 999_000 || len(b.Hosts) != 1000 {
				t.Errorf("a block has %d trials between %d hosts", b.Len, len(b.Hosts))
			}
			_, _ = b.Job(0), b.Slot(b.Len-1)
		}
	})
	if seen != 999_000 || used > 50e6 {
		t.Errorf("%d trials take %.1f MB", seen, float64(used)/1e6)
	}
}

// BenchmarkPlanAMeshOfAThousand reads a plan of 1,000 hosts, works out its 999,000 pairs and
// runs its schedule in simulated time.
func BenchmarkPlanAMeshOfAThousand(b *testing.B) {
	text := []byte(plans.ManyHosts(1000) + "pairs: {mesh: ['*']}\nrounds: 1\n")
	b.ReportAllocs()
	for b.Loop() {
		p, err := plan.Parse("plan.yaml", text)
		if err != nil {
			b.Fatal(err)
		}
		if e := advice.EstimateOf(p, nil); e.Trials != 999_000 || e.AtOnce != 500 {
			b.Fatalf("estimate %+v", e)
		}
	}
}
