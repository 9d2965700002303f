// Package namespace gives a test a network namespace of its own.
package namespace

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"soku/test/tier"
)

// Do runs a function on a thread in a network namespace of its own. Thread and namespace end
// with it. The test fails with the error of the function, and is skipped without root, and where the system
// allows no namespace.
func Do(t *testing.T, f func() error) {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	err := <-done
	if errors.Is(err, unix.EPERM) {
		t.Skip("this system does not let the test have its namespace: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
