package sock_test

import (
	"io"
	"net"
	"syscall"
	"testing"

	"soku/internal/sock"
)

// accepted is a connection over loopback.
func accepted(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialled, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close() })
	taken, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	return dialled.(*net.TCPConn), taken.(*net.TCPConn)
}

func raw(t *testing.T, c *net.TCPConn) syscall.RawConn {
	t.Helper()
	r, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ended waits for the end of what the other side sends.
func ended(t *testing.T, c *net.TCPConn) {
	t.Helper()
	if n, err := io.Copy(io.Discard, c); err != nil || n != 0 {
		t.Errorf("instead of the end of the stream: %d bytes, %v", n, err)
	}
}

func TestWorkOnItsOwnThreadMovesBytesOverItsSockets(t *testing.T) {
	near, far := accepted(t)
	sock.OwnThread([]syscall.RawConn{raw(t, near)}, func() {
		if _, err := near.Write([]byte("x")); err != nil {
			t.Error(err)
		}
	})
	b := make([]byte, 1)
	if _, err := io.ReadFull(far, b); err != nil || b[0] != 'x' {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestASocketClosedElsewhereIsClosedWhileWorkGoesOn(t *testing.T) {
	used, _ := accepted(t)
	near, far := accepted(t)
	sock.OwnThread([]syscall.RawConn{raw(t, used)}, func() {
		done := make(chan struct{})
		go func() { // on another thread, as this one is locked
			defer close(done)
			near.Close()
			ended(t, far)
		}()
		<-done
	})
}

func TestASocketIsClosedForGoodOnceWorkIsOver(t *testing.T) {
	for range 20 {
		near, far := accepted(t)
		sock.OwnThread([]syscall.RawConn{raw(t, near)}, func() {})
		near.Close()
		ended(t, far)
	}
}
