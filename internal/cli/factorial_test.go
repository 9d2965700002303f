package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"soku/internal/stats"
)

// factorialTable is 20 skus in 4 zones with 5 numbers of streams: the sku sets the throughput,
// each 3 % above the one before, the streams add up to 8 %, and the zones differ by 0.1 %.
func factorialTable(rounds int) string {
	r := rand.New(rand.NewPCG(11, 11))
	var b strings.Builder
	b.WriteString("sku,zone,streams,round,day,mbps\n")
	for round := 1; round <= rounds; round++ {
		drift := math.Exp(0.05 * r.NormFloat64())
		for sku := range 20 {
			for zone := range 4 {
				for streams := range 5 {
					mbps := 1000 * math.Pow(1.03, float64(sku)) * (1 + 0.02*float64(streams)) * (1 + 0.001*float64(zone%2)) * drift * math.Exp(0.02*r.NormFloat64())
					fmt.Fprintf(&b, "s%d,z%d,%d,%d,Monday,%.3f\n", sku, zone, 1<<streams, round, mbps)
				}
			}
		}
	}
	return b.String()
}

// SOKU_FACTORIAL_ROUNDS=25 runs it at full size.
func TestAFactorialOfATableSaysWhichFactorsMatter(t *testing.T) {
	rounds := 3
	if full, err := strconv.Atoi(os.Getenv("SOKU_FACTORIAL_ROUNDS")); err == nil {
		rounds = full
	}
	doc, text := reportOf(t, factorialMapping, factorialTable(rounds))
	test := doc.Tests[0]
	if len(test.Rows) != 400 || test.Rounds != rounds || len(test.FactorEffects) != 3 {
		t.Fatalf("%d patterns, %d rounds, %+v", len(test.Rows), test.Rounds, test.FactorEffects)
	}
	zone := stats.MattersNotShown // nothing is ruled out in fewer than six rounds
	if rounds >= 6 {
		zone = stats.MattersNo
	}
	for i, want := range []struct {
		factor  string
		matters stats.Matters
		ratio   float64
	}{{"sku", stats.MattersYes, math.Pow(1.03, 19)}, {"zone", zone, 1.001}, {"streams", stats.MattersYes, 1.08}} {
		f := test.FactorEffects[i]
		if f.Factor != want.factor || f.Matters != want.matters || f.LargestRatio == nil || !near(*f.LargestRatio, want.ratio, 0.01) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	if e := effectOf(t, test, "sku", "s19", "s0"); e.Low == nil || *e.Low > math.Pow(1.03, 19) || *e.High < math.Pow(1.03, 19) || e.Decision != stats.Better && e.Decision != stats.Worse {
		t.Errorf("%+v, want an interval around %v", e, math.Pow(1.03, 19))
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"Sku sets the goodput: 1.7 × from s0 to s19 (95 % interval 1.7", "Streams changes the goodput: +"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%.2000s", want, text)
		}
	}
}
