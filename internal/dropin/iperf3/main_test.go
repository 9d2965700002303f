package iperf3

import (
	"flag"
	"os"
	"testing"
)

// Tests here mostly wait for tests of a second to end, so that more of them run at
// the same time than there are processors.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "16")
	os.Exit(m.Run())
}
