package engine

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"soku/internal/measure"
)

func TestFailStreamNamesTheStreamOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cause := &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("write", syscall.EPIPE)}
	e := FailStream([]net.Conn{nil, c}, 1, "flow.send", measure.Figures{"cause": cause})
	want := "send to " + l.Addr().String() + " (stream 2 of 2): " + syscall.EPIPE.Error()
	if e.Message != want || e.HintCode != "stream_broken" || e.Hint == "" || !errors.Is(e, syscall.EPIPE) {
		t.Errorf("%q, hint %q (%s); want %q", e.Message, e.Hint, e.HintCode, want)
	}
	if e := FailStream([]net.Conn{c}, 0, "bulk.send", measure.Figures{"cause": cause}); e.HintCode != "" || e.Hint == "" {
		t.Errorf("a code with a hint of its own has %q (%s)", e.Hint, e.HintCode)
	}
}
