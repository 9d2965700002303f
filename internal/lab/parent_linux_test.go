package lab

import (
	"runtime"
	"testing"
	"time"
)

// A command outlives the thread that started it: threads that entered a namespace end.
func TestACommandDoesNotEndWithTheThreadThatStartedIt(t *testing.T) {
	l := up(t, pair)
	cmd := l.Command(t.Context(), "a", "sleep", "60")
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		started <- cmd.Start()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Errorf("it ended: %v", err)
	case <-time.After(300 * time.Millisecond):
		_ = cmd.Process.Kill()
		<-ended
	}
}
