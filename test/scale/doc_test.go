// Package scale_test has one hub, as a process, work for many agents that are simulated: they join, connect with
// TLS and their JWTs and send what agents send, and move no packets. SOKU_SCALE is how many; make scale has 1000.
//
// The test process and the hub share a machine, so the times are those of both.
package scale_test

import (
	"testing"

	"soku/test/built"
)

func TestMain(m *testing.M) { built.Main(m) }
