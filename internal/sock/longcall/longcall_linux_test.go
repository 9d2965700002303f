//go:build linux && (amd64 || arm64) && !race && !plainloops

package longcall

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pollOutside waits at most five seconds for something to read, and returns what
// ppoll(2) does.
//
//go:nosplit
func pollOutside(p *unix.PollFd, limit *unix.Timespec) uintptr {
	Enter()
	n, _, _ := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(p)), 1, uintptr(unsafe.Pointer(limit)), 0, 0, 0)
	Exit()
	return n
}

func TestTheRuntimeContinuesDuringALongCall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	p := &unix.PollFd{Fd: int32(r.Fd()), Events: unix.POLLIN}
	limit := &unix.Timespec{Sec: 5}
	ready := make(chan uintptr)
	go func() { ready <- pollOutside(p, limit) }()
	runtime.Gosched() // the only processor is the poller's now, unless it has given it away
	runtime.GC()
	if _, err := w.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if n := <-ready; n != 1 {
		t.Error("nothing else ran while the call waited")
	}
}

func TestNanotimeIsAClock(t *testing.T) {
	a := Nanotime()
	if b := Nanotime(); a <= 0 || b < a {
		t.Errorf("%d, then %d", a, b)
	}
}
