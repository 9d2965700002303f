package iperf3

import (
	"flag"
	"os"
	"testing"
)

// Tests here mostly wait for measurements of a second, so more of them run in parallel
// than there are processors.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "16")
	os.Exit(m.Run())
}
