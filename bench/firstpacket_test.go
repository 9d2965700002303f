package main

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestTheRelayRecordsTheFirstConnection(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // echoes
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	r, err := newRelay(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	exchange := func() {
		c, err := net.Dial("tcp4", r.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.Write([]byte("hello"))
		_ = c.(*net.TCPConn).CloseWrite()
		if back, err := io.ReadAll(c); string(back) != "hello" {
			t.Errorf("%q came back, %v", back, err)
		}
	}
	before := time.Now()
	exchange()
	after := time.Now()
	exchange()
	if at := <-r.opened; at.Before(before) || at.After(after) {
		t.Errorf("recorded %v after the connection was begun, of %v", at.Sub(before), after.Sub(before))
	}
	select {
	case <-r.opened:
		t.Error("the second connection was recorded")
	default:
	}
}
