// Package limits tests the limits of a server as a table: each limit in each protocol, in
// each direction, for each way to ask, by clients that keep to none of them.
package limits

import (
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/server/ethr"
	"soku/internal/server/iperf3"
	"soku/test/servertest"
)

// served is a server under test with a port for each protocol.
type served struct {
	*servertest.Server
	ethr, iperf3 netip.AddrPort
}

func serve(t *testing.T, cfg server.Config) *served {
	t.Helper()
	cfg.Foreign = []server.Foreign{
		{Protocol: ethr.New(ethr.Hooks{}), Listen: "127.0.0.1:0"},
		{Protocol: iperf3.New(iperf3.Config{}), Listen: "127.0.0.1:0"},
	}
	s := &served{Server: servertest.Start(t, cfg)}
	s.ethr, _ = s.ForeignAddr(option.ViaEthr)
	s.iperf3, _ = s.ForeignAddr(option.ViaIperf3)
	return s
}

// cell is one of a table.
type cell struct {
	name string
	run  func(t *testing.T)
}

// atOnce is how many cells run at a time. They wait most of their time, so that they are more
// than the processors, to which t.Parallel would limit them.
const atOnce = 16

// runAll runs the cells of a table side by side.
func runAll(t *testing.T, cells []cell) {
	next := make(chan cell)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for c := range next {
				t.Run(c.name, c.run)
			}
		})
	}
	for _, c := range cells {
		next <- c
	}
	close(next)
	workers.Wait()
}

var endOf = regexp.MustCompile(`msg="test ended".* bytes=(\d+)`)

// counted returns how many bytes the tests that ended moved according to the server's log, or
// false while fewer than tests have ended.
func (s *served) counted(tests int) (bytes int64, ok bool) {
	ends := endOf.FindAllStringSubmatch(s.Logs(), -1)
	for _, m := range ends {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		bytes += n
	}
	return bytes, len(ends) >= tests
}

// greedy moves as much as a connection carries until stop is closed, and counts it.
type greedy struct {
	sent, received atomic.Int64
	stop           chan struct{}
	work           sync.WaitGroup
}

func newGreedy() *greedy { return &greedy{stop: make(chan struct{})} }

func (g *greedy) stopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

// writes pumps pieces into a connection; errors of a datagram socket pass.
func (g *greedy) writes(c net.Conn, piece []byte) {
	g.work.Go(func() {
		_, datagrams := c.(*net.UDPConn)
		for !g.stopped() {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			n, err := c.Write(piece)
			g.sent.Add(int64(n))
			var timeout net.Error
			if err != nil && !datagrams && (!errors.As(err, &timeout) || !timeout.Timeout()) {
				return
			}
			if datagrams {
				time.Sleep(50 * time.Microsecond) // some Gbit/s are enough, and leave a processor to the server
			}
		}
	})
}

func (g *greedy) reads(c net.Conn) {
	g.work.Go(func() {
		b := make([]byte, 64<<10)
		for !g.stopped() {
			_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			n, err := c.Read(b)
			g.received.Add(int64(n))
			var timeout net.Error
			if err != nil && (!errors.As(err, &timeout) || !timeout.Timeout()) {
				return
			}
		}
	})
}

// end stops it and waits.
func (g *greedy) end() {
	close(g.stop)
	g.work.Wait()
}

// closeWrite ends what is sent on a connection, which the far end reads to its end.
func closeWrite(c net.Conn) {
	if c, ok := c.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
}
