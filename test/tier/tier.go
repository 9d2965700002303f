// Package tier marks the tests that a tier omits. "make test" runs every test. "make quick"
// (go test -short) omits tests that take real time. "make race" and "make quick" omit
// timing-sensitive tests, which fail when something else slows the program down.
//
// The reasons begin with "tier:", so that the list of skipped tests (test/skips) can
// distinguish them from skips that hide something.
//
// On a busy host a timing-sensitive test may fail without a defect. Such a failure says how busy
// the host was, and make test repeats the test once.
package tier

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// SpendsSeconds omits a test from make quick: it takes real time, because it measures, or
// because a program that it uses needs the time.
func SpendsSeconds(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it spends real seconds")
	}
	sayIfBusy(t)
}

// NeedsQuiet omits a test from make quick, which runs two packages in parallel: it allows
// little time for something, such as the end of a stopped trial.
func NeedsQuiet(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it needs a quiet machine")
	}
	sayIfBusy(t)
}

// WatchesTheClock omits a timing-sensitive test from make quick and make race: it fails when
// other work takes the processors or slows the program down.
func WatchesTheClock(t testing.TB) {
	t.Helper()
	if testing.Short() || race {
		t.Skip("tier: it watches the clock")
	}
	sayIfBusy(t)
}

// NeedsRoot omits a test from make quick, and skips it if this process is not root: why is
// what it needs root for, such as "network namespaces".
func NeedsRoot(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it needs root")
	}
	if os.Geteuid() != 0 {
		t.Skip(why + " need root")
	}
}

// Asked omits a test from all tiers: it is long, or its outcome is a figure of a quiet machine. The target of make runs it: asked is its
// environment variable.
func Asked(t testing.TB, asked, target string) {
	t.Helper()
	if asked == "" {
		t.Skip("tier: make " + target + " runs it")
	}
}

// NeedsBuild omits a test from builds without the feature that it tests: has reports whether
// this build has it. The race detector and build tags exclude features.
func NeedsBuild(t testing.TB, has bool, what string) {
	t.Helper()
	if !has {
		t.Skip("tier: this build has no " + what)
	}
}

// NeedsRootBuffers is NeedsRoot for a test that asks for larger buffers than the system allows
// to others. It returns that limit in bytes (net.core.rmem_max of Linux).
func NeedsRootBuffers(t testing.TB) int {
	t.Helper()
	NeedsRoot(t, "buffers beyond the system's limits")
	b, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return most
}
