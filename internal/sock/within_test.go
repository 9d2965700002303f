package sock

import (
	"context"
	"net"
	"testing"
	"time"
)

func TestADeadlineAfterTheEndOfAContextHasPassed(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	ctx, cancel := context.WithCancel(t.Context())
	Within(ctx, a.SetReadDeadline, time.Now().Add(time.Hour))
	read := make(chan error)
	go func() {
		_, err := a.Read(make([]byte, 1))
		read <- err
	}()
	select {
	case err := <-read:
		t.Fatalf("a read ended before its deadline: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	Within(ctx, a.SetReadDeadline, time.Now().Add(time.Hour))
	if err := <-read; !TimedOut(err) {
		t.Errorf("the read ended with %v", err)
	}
}
