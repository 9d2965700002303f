package lab

import (
	"encoding/json"

	"soku/internal/measure"
)

// decodeState reads the text of a state file and refuses what cannot be one.
func decodeState(data []byte) (state, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return state{}, err
	}
	if s.Schema != stateSchema || !nodeName.MatchString(s.Name) {
		return state{}, measure.Fail(measure.KindInternal, "lab.state.schema", measure.Figures{"schema": stateSchema})
	}
	for _, p := range s.Processes {
		if p.PID <= 1 {
			return state{}, measure.Fail(measure.KindInternal, "lab.state.process", measure.Figures{"pid": p.PID})
		}
	}
	return s, nil
}
