package iperf3

import (
	"fmt"

	"soku/internal/wire"
	"soku/internal/wire/iperf3"
)

// Levels of --debug: states are printed from debugStates on.
const (
	debugStates = 3
	mostDebug   = 4
)

// debug takes the level; an invalid one means the highest.
func debug(s *Settings, v string) error {
	s.Debug = mostDebug
	if n, ok := integer(v); ok && n >= 0 {
		s.Debug = min(n, mostDebug)
	}
	return nil
}

// stateNames are those of iperf3.
var stateNames = map[iperf3.State]string{
	iperf3.TestStart: "TEST_START", iperf3.TestRunning: "TEST_RUNNING", iperf3.TestEnd: "TEST_END",
	iperf3.ParamExchange: "PARAM_EXCHANGE", iperf3.CreateStreams: "CREATE_STREAMS",
	iperf3.ExchangeResults: "EXCHANGE_RESULTS", iperf3.DisplayResults: "DISPLAY_RESULTS", iperf3.Done: "IPERF_DONE",
}

// stateOf is the state of iperf3's protocol in which a client's session stands.
func stateOf(s wire.State) (iperf3.State, bool) {
	switch s.Name {
	case wire.Ready:
		return iperf3.CreateStreams, true
	case wire.Running:
		return iperf3.TestRunning, true
	case wire.Done:
		return iperf3.DisplayResults, true
	}
	return 0, false
}

// printState prints a change of the control connection's state.
func (r *runner) printState(s iperf3.State) {
	if r.set.Debug < debugStates || r.set.JSON {
		return
	}
	verb := "server set"
	if r.set.Role == Client {
		verb = "client received and changed"
	}
	newText(r.out, r.errs, r.set, r.env.Now).print("%s", fmt.Sprintf("State change: %s State to %d-%s\n", verb, s, stateNames[s]))
}
