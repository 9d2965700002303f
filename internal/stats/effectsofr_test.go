package stats

import (
	"fmt"
	"math"
	"testing"
)

type factorVectors struct {
	About     string
	Tolerance float64
	Cases     []struct {
		Name    string
		Logs    [][][]float64
		R       map[string]float64 `json:"R_aov"`
		Tetrads []struct {
			Cells                [4]int
			Effect, Low, High, P float64
			Holm                 float64 `json:"p_holm"`
		}
	}
}

// tableOf makes observations of logarithms by level of a, level of b, and round.
func tableOf(logs [][][]float64) Observations {
	return factorial([]string{"a", "b"}, []int{len(logs), len(logs[0])}, len(logs[0][0]), func(at []int, round int) float64 {
		return logs[at[0]][at[1]][round]
	})
}

func TestInteractionsAreThoseOfR(t *testing.T) {
	var file factorVectors
	decodeVectors(t, "factors.json", &file)
	for _, c := range file.Cases {
		cells := tableOf(c.Logs).Cells("tcp", "goodput")
		got := FindEffects(cells, EffectOptions{Threshold: 0.03}).Interactions
		g, width := newGrid(cells, Looks{}), len(c.Logs[0])
		rows := g.combinations(0, 1)
		var all []Effect // of each tetrad by itself
		var p []float64
		for _, tetrad := range got[0].Tetrads {
			units, unit := g.units(rows, []int{tetrad.A[0]*width + tetrad.B[0], tetrad.A[1]*width + tetrad.B[1]}, []int{tetrad.A[0]*width + tetrad.B[1], tetrad.A[1]*width + tetrad.B[0]}, nil)
			all = append(all, g.effect(studentOf(units), unit))
			p = append(p, all[len(all)-1].P)
		}
		adjusted := HolmAdjusted(p)
		if len(got) != 1 || len(got[0].Tetrads) != len(c.Tetrads) {
			t.Fatalf("%s: %d interactions", c.Name, len(got))
		}
		for i, want := range c.Tetrads {
			tetrad := got[0].Tetrads[i]
			if cells := [4]int{tetrad.A[0], tetrad.A[1], tetrad.B[0], tetrad.B[1]}; cells != want.Cells {
				t.Fatalf("%s: tetrad %v, want %v", c.Name, cells, want.Cells)
			}
			name := fmt.Sprint(c.Name, want.Cells)
			near(t, name+": effect", tetrad.Log, want.Effect, 1e-9)
			near(t, name+": low", all[i].Low, want.Low, 1e-9)
			near(t, name+": high", all[i].High, want.High, 1e-9)
			agree(t, name+": p", p[i], want.P, 1e-8)
			agree(t, name+": Holm", adjusted[i], want.Holm, 1e-8)
		}
	}
}

func TestSharesOfVariationAreThoseOfR(t *testing.T) {
	var file factorVectors
	decodeVectors(t, "factors.json", &file)
	for _, c := range file.Cases {
		got := effects(tableOf(c.Logs), EffectOptions{})
		squares, total := map[string]float64{}, 0.0
		for _, source := range []string{"round", "A", "B", "AB", "residual"} {
			squares[source] = c.R[source+" df"] * c.R[source+" ms"]
			total += squares[source]
		}
		agree(t, c.Name+": factor A", got.Variation.Factors[0], squares["A"]/total, 1e-8)
		agree(t, c.Name+": factor B", got.Variation.Factors[1], squares["B"]/total, 1e-8)
		within := total - squares["round"]
		agree(t, c.Name+": factor A within rounds", got.Factors[0].Share, squares["A"]/within, 1e-8)
		agree(t, c.Name+": factor B within rounds", got.Factors[1].Share, squares["B"]/within, 1e-8)
		agree(t, c.Name+": rounds", got.Variation.Blocks, squares["round"]/total, 1e-8)
		agree(t, c.Name+": interaction", got.Variation.Interactions, squares["AB"]/total, 1e-8)
		agree(t, c.Name+": rest", got.Variation.Rest, squares["residual"]/total, 1e-8)
	}
}

func TestMainEffectsOfTwoLevelsAreThePairedTOfR(t *testing.T) {
	for _, c := range intervalsOfR(t) {
		n := len(c.LogRatios)
		byRound := effects(factorial([]string{"a"}, []int{2}, n, func(at []int, round int) float64 {
			return float64(at[0])*c.LogRatios[round] + 0.2*float64(round)
		}), EffectOptions{})
		// The same with the levels of another factor as blocks: a table without replicates.
		byLevels := effects(factorial([]string{"a", "b"}, []int{2, n}, 1, func(at []int, _ int) float64 {
			return float64(at[0])*c.LogRatios[at[1]] + 0.2*float64(at[1])
		}), EffectOptions{})
		near(t, c.Name+": variation by interactions without replicates", byLevels.Variation.Interactions, 0, 0)
		if len(byLevels.Interactions) != 0 {
			t.Errorf("%s: interactions without replicates: %+v", c.Name, byLevels.Interactions)
		}
		for unit, got := range map[Unit]Effects{UnitRound: byRound, UnitLevels: byLevels} {
			pair := got.Factors[0].Pairs[0]
			switch rule := estimateOf(c.LogRatios); {
			case n < 3:
				if !math.IsNaN(pair.Low) || !math.IsNaN(pair.P) {
					t.Errorf("%s: two units are tested", c.Name)
				}
			case unit == UnitLevels || rule.ranks == nil && rule.err == studentOf(c.LogRatios).err:
				near(t, c.Name+": low", pair.Low, c.Low, 1e-9)
				near(t, c.Name+": high", pair.High, c.High, 1e-9)
			}
			if pair.Unit != unit || pair.Units != n {
				t.Errorf("%s: %d units: %s, want %d: %s", c.Name, pair.Units, pair.Unit, n, unit)
			}
		}
	}
}
