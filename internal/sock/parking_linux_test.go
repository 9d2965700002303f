package sock

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func parked(t *testing.T, p *Parking, fds []unix.PollFd, d time.Duration) <-chan time.Duration {
	t.Helper()
	done := make(chan time.Duration, 1)
	began := time.Now()
	go func() { p.Wait(fds, d); done <- time.Since(began) }()
	return done
}

func TestAParkedGoroutineWakesForDataAWakeOrItsTime(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	p := NewParking()
	defer p.Close()
	if !p.Works() {
		t.Fatal("it does not work")
	}
	fds := []unix.PollFd{{Fd: -1}, {Fd: int32(r.Fd()), Events: unix.POLLIN}}
	const long = time.Minute
	if d := <-parked(t, p, []unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLOUT}}, long); d > long/2 {
		t.Error("room did not end the wait")
	}
	if d := <-parked(t, p, fds, 50*time.Millisecond); d < 50*time.Millisecond || d > long/2 {
		t.Errorf("with a time of 50 ms it took %v", d)
	}
	for round := range 3 { // each leaves the parking as it was
		done := parked(t, p, fds, long)
		time.Sleep(20 * time.Millisecond)
		p.Wake()
		if d := <-done; d > long/2 {
			t.Errorf("round %d: a wake did not end the wait", round)
		}
		p.Wake()
		if d := <-parked(t, p, fds, long); d > long/2 {
			t.Errorf("round %d: a wake before the wait did not end it", round)
		}
		done = parked(t, p, fds, long)
		time.Sleep(20 * time.Millisecond)
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if d := <-done; d > long/2 {
			t.Errorf("round %d: data did not end the wait", round)
		}
		if d := <-parked(t, p, fds, long); d > long/2 {
			t.Errorf("round %d: data that was there did not end the wait", round)
		}
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if d := <-parked(t, p, fds, 50*time.Millisecond); d < 50*time.Millisecond {
			t.Errorf("round %d: nothing happened, and the wait ended after %v", round, d)
		}
	}
	p.Close() // as where the process has no descriptor left
	if d := <-parked(t, p, fds, 50*time.Millisecond); d < 50*time.Millisecond || d > long/2 {
		t.Errorf("without a descriptor and with a time of 50 ms it took %v", d)
	}
}

func TestASignalDoesNotEndAWaitOnAThread(t *testing.T) {
	p := NewParking()
	p.Close()
	thread, done := make(chan int, 1), make(chan time.Duration, 1)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		began := time.Now()
		p.Wait([]unix.PollFd{{Fd: -1}}, 50*time.Millisecond)
		done <- time.Since(began)
	}()
	id := <-thread
	for {
		select {
		case d := <-done:
			if d < 50*time.Millisecond {
				t.Errorf("with a time of 50 ms it took %v", d)
			}
			return
		case <-time.After(5 * time.Millisecond):
			_ = unix.Tgkill(os.Getpid(), id, unix.SIGURG)
		}
	}
}
