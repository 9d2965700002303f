package studies

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestEachPlanIsThatOfItsExample(t *testing.T) {
	const cases = "../../../examples/cases"
	files, err := filepath.Glob(filepath.Join(cases, "*", "cloud.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		names = append(names, name)
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if have, _ := Plan(name); string(have) != string(want) {
			t.Errorf("%s.yaml differs from %s: copy one over the other", name, file)
		}
	}
	if have := Names(); len(have) == 0 || !slices.Equal(have, names) {
		t.Errorf("the studies are %v, the examples are %v", have, names)
	}
}
