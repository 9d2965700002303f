package iperf3

import (
	"strings"
	"testing"
)

func TestDebugPrintsTheStatesOfTheControlConnection(t *testing.T) {
	t.Parallel()
	port, _ := realServer(t)
	out := ours(t, "-c", "127.0.0.1", "-p", port, "-n", "1M", "-d")
	inOrder(t, out.stdout, "State to 10-CREATE_STREAMS", "State to 2-TEST_RUNNING", "sec", "State to 14-DISPLAY_RESULTS")
	s := startOurs(t, "-1", "--debug=3")
	execute(t, realProgram(t), "-c", "127.0.0.1", "-p", s.port, "-n", "1M")
	inOrder(t, s.result(t).stdout, "Accepted", "State to 2-TEST_RUNNING", "State to 13-EXCHANGE_RESULTS", "receiver", "State to 16-IPERF_DONE")
	for _, quiet := range []string{"--debug=2", "-Jd"} {
		port, _ := realServer(t)
		if out := ours(t, "-c", "127.0.0.1", "-p", port, "-n", "1M", quiet); out.code != 0 || strings.Contains(out.stdout, "State") {
			t.Errorf("%s: %+v", quiet, out)
		}
	}
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is not, or not in this order, in\n%s", part, text)
		}
		rest = after
	}
}
