// Package freeport finds ports for tests.
package freeport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// The ports are below the range of ephemeral ports, which may be in use at any time.
const (
	lowest = 10_000
	span   = 20_000
)

var next atomic.Uint32

func init() { next.Store(rand.Uint32N(span)) } // packages are tested in parallel

// One is a port that no TCP or UDP socket of the host uses. A process gets no port twice. It
// is safe for concurrent use.
func One(t testing.TB) int {
	t.Helper()
	return Row(t, 1)
}

// Row is the first of n consecutive such ports.
func Row(t testing.TB, n int) int {
	t.Helper()
	for range 1000 {
		first := lowest + int(next.Add(uint32(n))-uint32(n))%span
		if free(first, n) {
			return first
		}
	}
	t.Fatalf("no %d ports in a row are free", n)
	return 0
}

// Pair returns two datagram sockets on loopback that are connected to each other. They are
// closed when the test ends.
func Pair(t testing.TB) (a, b *net.UDPConn) {
	t.Helper()
	first := Row(t, 2)
	here := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: first}
	there := &net.UDPAddr{IP: here.IP, Port: first + 1}
	return dial(t, here, there), dial(t, there, here)
}

func dial(t testing.TB, from, to *net.UDPAddr) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", from, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// free reads the system's list of sockets, if there is one. Listening for a moment does not
// work while the process starts programs: until a new process has executed its program it
// has a copy of the listening socket, and the next listener finds the port in use.
func free(first, n int) bool {
	for _, file := range []string{"tcp", "tcp6", "udp", "udp6"} {
		sockets, err := os.ReadFile("/proc/net/" + file)
		if os.IsNotExist(err) && file == "tcp" {
			return canListen(first, n)
		}
		for port := first; port < first+n; port++ {
			if strings.Contains(string(sockets), fmt.Sprintf(":%04X ", port)) {
				return false
			}
		}
	}
	return true
}

func canListen(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
