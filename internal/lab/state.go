package lab

import (
	"encoding/json"
	"fmt"
)

// decodeState reads the text of a state file and refuses what cannot be one.
func decodeState(data []byte) (state, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return state{}, fmt.Errorf("read state: %w", err)
	}
	if s.Schema != stateSchema || !nodeName.MatchString(s.Name) {
		return state{}, fmt.Errorf("read state: not a %s document", stateSchema)
	}
	for _, p := range s.Processes {
		if p.PID <= 1 {
			return state{}, fmt.Errorf("read state: process number %d", p.PID)
		}
	}
	return s, nil
}
