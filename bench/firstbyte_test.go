package main

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestTheRelayRecordsTheFirstMeasuredByte(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c); c.Close() }()
		}
	}()
	r, err := newRelay(t.Context(), l.Addr().String(), iperf3Data)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	say := func(bytes ...int) time.Time {
		c, err := net.Dial("tcp4", r.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var last time.Time
		for _, n := range bytes {
			last = time.Now()
			if _, err := c.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		return last
	}
	say(37, 200) // control
	select {
	case <-r.first:
		t.Fatal("a byte of the control connection was taken for a measured one")
	default:
	}
	begin := say(30, 7, 1)
	select {
	case at := <-r.first:
		if at.Before(begin) {
			t.Errorf("the cookie was taken for a measured byte")
		}
	default:
		t.Error("the first measured byte was not seen")
	}
}
