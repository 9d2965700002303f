// Package scale_test has a hub and its stores work for many: one hub, as a process, for many agents that are simulated, which
// join, connect with TLS and their JWTs and send what agents send, and move no packets; and stores with many results. make scale
// has as many as docs/scale.md says, an ordinary test fewer.
//
// The test process and the hub share a machine, so times are those of both. Processor time is that of each process alone.
package scale_test

import (
	"os"
	"strconv"
	"testing"

	"soku/test/built"
	"soku/test/postgresql"
)

func TestMain(m *testing.M) {
	postgresql.With(func() int { return built.Run(m) }, "fsync=on") // what is kept is durable
}

// many is a number of an environment variable, or the one of an ordinary test.
func many(t *testing.T, variable string, otherwise, most int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > most {
		t.Fatalf("%s is %q", variable, text)
	}
	return n
}
