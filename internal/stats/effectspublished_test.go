package stats

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"
)

// published reads a table of instance types and interfaces without replicates, as somebody
// published it. Its last three columns are the interfaces.
func published(t *testing.T, name string) Observations {
	t.Helper()
	file, err := os.Open("../../examples/cases/interface-matrix/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	o := Observations{Factors: []Factor{{Name: "instance type"}, {Name: "interface"}}}
	for _, row := range rows[1:] {
		for i := len(row) - 3; i < len(row); i++ {
			value, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			o.Rows = append(o.Rows, Observation{Test: "tcp", Metric: "goodput", Value: value, Levels: []string{row[0], rows[0][i]}})
		}
	}
	return o
}

func TestEffectsOfAPublishedTable(t *testing.T) {
	for name, want := range map[string]struct {
		types, interfaces Matters
		log, p            float64 // VLAN over public, by a paired t test apart from this code
	}{
		// VLAN is faster by 0.5 %: shown, and no difference in practice.
		"interface-matrix-throughput.csv": {MattersYes, MattersNo, 0.004574236261, 0.005009006184},
		// VLAN is faster by 15 %; with three interfaces, types differ by the variance of all of them.
		"interface-matrix-ping.csv": {MattersYes, MattersYes, -0.15763753987, 0.0057884767172},
	} {
		got := effects(published(t, name), EffectOptions{Threshold: 0.03})
		types, interfaces := got.Factors[0], got.Factors[1]
		if len(types.Levels) != 9 || len(interfaces.Levels) != 3 || types.Matters != want.types || interfaces.Matters != want.interfaces {
			t.Errorf("%s: %d types: %s, interfaces: %+v", name, len(types.Levels), types.Matters, interfaces)
		}
		vlan := interfaces.Pairs[0]
		agree(t, name+": VLAN over public", vlan.Log, want.log, 1e-9)
		agree(t, name+": p", vlan.P, want.p, 1e-9)
		if vlan.Holm > 0.05 || vlan.Units != 9 || vlan.Unit != UnitLevels || *interfaces.Largest != vlan {
			t.Errorf("%s: VLAN over public %+v, largest %+v", name, vlan, *interfaces.Largest)
		}
	}
}
