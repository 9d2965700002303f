package sock_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
)

// sockets counts what the calling thread has of them.
func sockets(t *testing.T) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/thread-self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestAThreadOfItsOwnHasNoOtherSockets(t *testing.T) {
	if err := unshareable(); err != nil {
		t.Skipf("no table of descriptors for one thread: %v", err)
	}
	used, other := accepted(t)
	sock.OwnThread([]syscall.RawConn{raw(t, used)}, func() {
		if n := sockets(t); n != 1 {
			t.Errorf("%d sockets, want the one that is used", n)
		}
	})
	if _, err := other.Write([]byte("x")); err != nil {
		t.Errorf("the process's other socket: %v", err)
	}
}

// unshareable says why a thread cannot have a table of its own.
func unshareable() error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		tried <- unix.Unshare(unix.CLONE_FILES)
	}()
	return <-tried
}

func TestTheFirstThreadKeepsTheProcessesDescriptors(t *testing.T) {
	used, _ := accepted(t)
	for range 50 { // some of them begin on the first thread
		sock.OwnThread([]syscall.RawConn{raw(t, used)}, func() {
			if unix.Gettid() == unix.Getpid() {
				t.Error("work ran on the first thread")
			}
		})
	}
}
