// Package tier says which tests are left out of which tier. "make test" runs every
// test. "make quick" (go test -short) leaves out those that spend real seconds.
// "make race" and "make quick" leave out those that watch the clock, which fail where
// something else slows the program down.
//
// The reasons begin with "tier:", so that the list of skipped tests (test/skips) can
// tell them from skips that hide something.
package tier

import (
	"os"
	"testing"
)

// SpendsSeconds leaves a test out of make quick: it waits for real time to pass,
// because what it measures or what it talks to does.
func SpendsSeconds(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it spends real seconds")
	}
}

// NeedsQuiet leaves a test out of make quick, which runs two packages at a time: it
// allows little time for something, such as the end of a trial that was stopped.
func NeedsQuiet(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it needs a quiet machine")
	}
}

// WatchesTheClock leaves a test out of make quick and make race: it fails where
// something else takes the processors or slows the program down.
func WatchesTheClock(t testing.TB) {
	t.Helper()
	if testing.Short() || race {
		t.Skip("tier: it watches the clock")
	}
}

// NeedsRoot leaves a test out of make quick, and skips it where this process is not
// root: why says what it takes root for, such as "network namespaces".
func NeedsRoot(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("tier: it needs root")
	}
	if os.Geteuid() != 0 {
		t.Skip(why + " need root")
	}
}

// NeedsBuild leaves a test out of builds that lack what it tests: has says whether
// this one has it. The race detector and build tags leave things out.
func NeedsBuild(t testing.TB, has bool, what string) {
	t.Helper()
	if !has {
		t.Skip("tier: this build has no " + what)
	}
}
