package sock_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
)

// sockets counts the sockets of the calling thread, without the standard streams.
func sockets(t *testing.T) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/thread-self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		standard := slices.Contains([]string{"0", "1", "2"}, filepath.Base(l))
		if to, err := os.Readlink(l); err == nil && !standard && strings.HasPrefix(to, "socket:") {
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

func TestASocketThatIsClosedMeanwhileIsClosedAfterwards(t *testing.T) {
	used, peer := accepted(t)
	conn, closed := raw(t, used), make(chan error, 1)
	sock.OwnThread([]syscall.RawConn{conn}, func() {
		_ = conn.Control(func(uintptr) { // the socket is in use
			go func() { closed <- used.Close() }()
			for conn.Control(func(uintptr) {}) == nil { // as loops find out
				runtime.Gosched()
			}
		})
	})
	if err := <-closed; err != nil {
		t.Error(err)
	}
	_ = peer.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := peer.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the far end sees %v", err)
	}
}
