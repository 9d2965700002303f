package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"soku/internal/measure"
)

// free are the keys that may change between the parts of one campaign: they
// decide what runs now, how much of it, what it may cost and how figures are judged, not what a
// trial measures. So may the limits of endpoints and levels. There may not be fewer rounds than
// before.
var free = []string{
	"title", "rounds", "only", "pause", "command_timeout", "abort_after", "trials_at_once",
	"until", "budget", "practical", "limits", "control", "noise",
}

// SameMeasurement returns an error of kind usage that names the keys in which
// two plans would measure different things.
func SameMeasurement(recorded, given *Plan) error {
	var differ []string
	if f := recorded.former; len(f.zip)+len(f.patterns) > 0 { // other keys say the same now
		levels := func(a, b Pattern) bool { return slices.Equal(a.Levels, b.Levels) }
		if !slices.EqualFunc(recorded.patterns, given.patterns, levels) {
			differ = append(differ, "patterns")
		}
		recorded, given = recorded.withoutSelections(), given.withoutSelections()
	}
	a, b := reflect.ValueOf(recorded).Elem(), reflect.ValueOf(given).Elem()
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("yaml")
		if key == "" || key == "-" || slices.Contains(free, key) {
			continue
		}
		if !bytes.Equal(canonical(a.Field(i)), canonical(b.Field(i))) {
			differ = append(differ, key)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return measure.Fail(measure.KindUsage, "campaign.plan_changed", measure.Figures{"changed": differ, "free": free})
}

func canonical(v reflect.Value) []byte {
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return []byte(err.Error()) // cannot happen: plans hold plain values
	}
	return b
}
