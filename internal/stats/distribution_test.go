package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// functionVectors is testdata/vectors/functions.json, from R 4.2.2.
type functionVectors struct {
	About     json.RawMessage
	Tolerance json.RawMessage
	Values    map[string]float64
	Looks     struct {
		About json.RawMessage
		First map[int]map[int]float64
	}
}

func TestDistributionsAreThoseOfR(t *testing.T) {
	var file functionVectors
	decodeVectors(t, "functions.json", &file)
	checked := map[string]int{}
	for key, want := range file.Values {
		var a, b float64
		name, arguments, _ := strings.Cut(key, " ")
		fmt.Sscan(arguments, &a, &b)
		checked[name]++
		switch name {
		case "qt":
			agree(t, key, studentT(exactAlpha(a), b), want, 1e-9)
		case "pt_two_sided":
			agree(t, key, studentP(a, b), want, 1e-9)
			agree(t, key+", upper tail", studentTail(a, b), want/2, 1e-9)
			agree(t, key+", lower tail", studentTail(-a, b), 1-want/2, 1e-9)
		case "power_n":
			// R stops when n is within 1e-4.
			near(t, key, powerOf(a, want, 0.05), b, 1e-4/want)
			if n := RoundsForPower(a, 1, b, 0.05); n != int(math.Ceil(want)) {
				t.Errorf("%s: %d rounds, want %g rounded up", key, n, want)
			}
		case "psignrank":
			// Not computed: no rule uses ranks.
		case "digamma":
			agree(t, key, mathext.Digamma(a), want, 1e-9)
		case "trigamma":
			agree(t, key, trigamma(a), want, 1e-9)
			agree(t, "inverse of "+key, trigammaInverse(want), a, 1e-9)
		case "welch_low", "welch_high", "welch_df", "welch_p":
			checkWelch(t, name, want)
		case "qtukey95":
			// Not computed: no rule uses Tukey's test, whose false alarms rise with unequal spreads.
		default:
			t.Errorf("%s is not checked", key)
		}
	}
	for _, name := range []string{"qt", "pt_two_sided", "power_n", "trigamma", "digamma", "welch_p"} {
		if checked[name] == 0 {
			t.Errorf("the file has no %s", name)
		}
	}
}

// exactAlpha returns the two-sided level of a quantile. Those of many pairs are 0.05
// divided by their number, which 12 digits of the quantile do not give.
func exactAlpha(quantile float64) float64 {
	alpha := 2 * (1 - quantile)
	if quantile > 0.999 {
		return 0.05 / math.Round(0.05/alpha)
	}
	return alpha
}

func checkWelch(t *testing.T, name string, want float64) {
	d := welch([]float64{10, 11, 10.4}, []float64{20, 21.5})
	c := d.interval(0.05)
	agree(t, name, map[string]float64{"welch_low": c.Low, "welch_high": c.High, "welch_df": d.df, "welch_p": studentP(studentised(d.mean, d.err), d.df)}[name], want, 1e-9)
}

func TestPowerGrowsFromTheLevelToCertainty(t *testing.T) {
	for _, df := range []float64{1, 2, 11, 999} {
		near(t, fmt.Sprint("power of no difference, df ", df), powerOfT(0, df, 0.05), 0.05, 1e-9)
		before := 0.0
		for _, errors := range []float64{0, 1e-6, 0.1, 1, 2, 3, 10, 100, 399.9, 400.1, 1000, 1e6} {
			power := powerOfT(errors, df, 0.05)
			if power < before-1e-9 || power > 1 {
				t.Errorf("df %g: power %g at %g standard errors, after %g", df, power, errors, before)
			}
			before = power
		}
		near(t, fmt.Sprint("power of a huge difference, df ", df), before, 1, 1e-4)
	}
}

func TestTheInverseOfTrigammaHoldsOverItsRange(t *testing.T) {
	for _, x := range []float64{1e-3, 0.01, 0.3, 1, 7.5, 60, 999} {
		agree(t, fmt.Sprint("trigammaInverse at ", x), trigammaInverse(trigamma(x)), x, 1e-9)
	}
}

func TestLevelsOfLooksAreThoseSimulated(t *testing.T) {
	var file functionVectors
	decodeVectors(t, "functions.json", &file)
	// First looks at rounds 3, 5 and 8 are not used: campaigns decide from round 6.
	for most, want := range file.Looks.First[FirstLook] {
		level, ok := LookLevel(most)
		if near(t, fmt.Sprint("level of ", most, " rounds"), level, want, 1e-12); !ok {
			t.Errorf("not available for %d rounds", most)
		}
	}
	before := 1.0
	for most := FirstLook; most <= 40; most++ {
		level, ok := LookLevel(most)
		if !ok || level > before {
			t.Errorf("%d rounds: level %g after %g, %v", most, level, before, ok)
		}
		before = level
	}
	for _, most := range []int{0, 5, 41} {
		if _, ok := LookLevel(most); ok {
			t.Errorf("there is a level for %d rounds", most)
		}
	}
}

func TestCriticalValuesAreThoseOfThePublishedTables(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.7062, 4: 2.7764, 30: 2.0423, 120: 1.9799, 1e6: 1.9600} {
		near(t, "the two-sided 5 % value of Student's t", studentT(0.05, df), want, 5e-5)
	}
}
