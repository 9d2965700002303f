// Package loopback gives tests connections on loopback.
package loopback

import (
	"net"
	"testing"
)

// TCP returns n connections, both ends of each, which the end of the test closes.
func TCP(t testing.TB, n int) (clients, servers []*net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range n {
		c, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(); _ = s.Close() })
		clients, servers = append(clients, c), append(servers, s)
	}
	return clients, servers
}
