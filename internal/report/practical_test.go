package report

import (
	"strings"
	"testing"

	"soku/internal/stats"
	"soku/internal/text"
)

// closeGateways are two gateways that differ by 4 %.
func closeGateways() design {
	d := gateways()
	d.bps = func(l []string) float64 {
		return map[string]float64{"small": 1e9, "medium": 1.005e9, "large": 1.04e9}[l[0]]
	}
	return d
}

func TestDecisionsAreAgainstThePracticalThresholdOfThePlan(t *testing.T) {
	for _, c := range []struct {
		practical float64
		matters   stats.Matters
		decision  stats.Decision
		sentence  string
	}{
		{0, stats.MattersYes, stats.Better, "Sku sets the goodput"},
		{0.10, stats.MattersNo, stats.Same, "10 % or more is ruled out"},
	} {
		in := closeGateways().input()
		in.Design.Practical = c.practical
		test := build(t, in).test(t, "tcp")
		if f := test.FactorEffects[0]; f.Factor != "sku" || f.Matters != c.matters {
			t.Errorf("practical %v: %+v, want %s", c.practical, f, c.matters)
		}
		for _, e := range test.Effects {
			if e.A == "large" && e.B == "small" && e.Decision != c.decision {
				t.Errorf("practical %v: %+v, want %s", c.practical, e, c.decision)
			}
		}
		if said := strings.Join(testView{test, text.English()}.sentences(), "\n"); !strings.Contains(said, c.sentence) {
			t.Errorf("practical %v: no %q in\n%s", c.practical, c.sentence, said)
		}
	}
}

func TestTheDecisionsOfContentionNameThePracticalThresholdOfThePlan(t *testing.T) {
	in := slowServer().input()
	in.Design.Practical = 0.05
	columns := english(build(t, in).test(t, "tcp")).contentionTable().Columns
	if why := columns[len(columns)-1].Why; !strings.Contains(why, "a difference of 5 % is ruled out") {
		t.Errorf("%q", why)
	}
}

func TestTheHeadlineIsAboutTheFactorThatIsAskedAbout(t *testing.T) {
	for _, c := range []struct{ noise, practical float64 }{{0.002, 0}, {0.5, 0.001}} {
		d := closeGateways()
		d.noise = c.noise
		in := d.input()
		in.Design.Practical = c.practical
		test := build(t, in).test(t, "tcp")
		v := testView{test, text.English()}
		first, decided := v.sentences()[0], test.FactorEffects[0].Matters != stats.MattersNotShown
		if decided != (c.noise < 0.1) {
			t.Fatalf("noise %v: %+v", c.noise, test.FactorEffects)
		}
		if strings.HasPrefix(first, "Sku large is fastest: ") != decided || strings.HasPrefix(first, "Sku is not decided by 6 rounds: ") == decided {
			t.Errorf("noise %v: %q is said first", c.noise, first)
		}
	}
}

func TestPatternsThatMakeNoPracticalDifferenceToTheBestAreNamed(t *testing.T) {
	in := closeGateways().input()
	test := build(t, in).test(t, "tcp")
	for i, p := range test.Ranking {
		if want := i > 0 && strings.HasPrefix(p.Pattern, "large"); p.Same != want {
			t.Errorf("%s: no practical difference from the best: %v, want %v", p.Pattern, p.Same, want)
		}
	}
	in.Design.Practical = 0.08
	test = build(t, in).test(t, "tcp")
	for _, p := range test.Ranking[1:] {
		if !p.Same {
			t.Errorf("%s: 8 %% is not ruled out", p.Pattern)
		}
	}
	said := testView{test, text.English()}.same()
	if !strings.HasPrefix(said, "No practical difference from large") || !strings.Contains(said, "8 % or more is ruled out") || !strings.Contains(said, "and 1 more") {
		t.Error(said)
	}
}
