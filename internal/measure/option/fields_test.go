package option

import (
	"reflect"
	"strconv"
	"testing"

	"soku/internal/measure"
)

func TestEveryOptionIsDeclaredInFull(t *testing.T) {
	keys, flags := map[string]bool{}, map[string]bool{}
	for _, f := range optionFields {
		if f.Key == "" || f.Flag == "" || f.Help == "" {
			t.Errorf("option %+v lacks a tag", f)
		}
		if keys[f.Key] || flags[f.Flag] {
			t.Errorf("option %s is declared twice", f.Key)
		}
		keys[f.Key], flags[f.Flag] = true, true
	}
}

func TestTheLimitsOfAnOptionAreWholeNumbers(t *testing.T) {
	options := reflect.TypeFor[measure.Options]()
	for field := range options.Fields() {
		for _, key := range []string{"min", "max"} {
			text, ok := field.Tag.Lookup(key)
			if !ok {
				continue
			}
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				t.Errorf("%s of %s: %v", key, field.Name, err)
			}
		}
	}
}
