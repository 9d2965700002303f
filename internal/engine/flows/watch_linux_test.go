package flows

import (
	"net"
	"testing"

	"soku/internal/host/series"
	"soku/internal/measure"
)

// pairs are connections and their other ends.
func pairs(t *testing.T, n int) (here, there Conns) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range n {
		a, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
		here.TCP, there.TCP = append(here.TCP, a.(*net.TCPConn)), append(there.TCP, b.(*net.TCPConn))
	}
	return here, there
}

// figures are what sources read, by key.
func figures(all []series.Source) map[string]int64 {
	out := map[string]int64{}
	for _, s := range all {
		row := make([]int64, len(s.Columns))
		for i := range row {
			row[i] = series.Unknown
		}
		s.Read(row)
		for i, c := range s.Columns {
			out[c.Key] = row[i]
		}
	}
	return out
}

func TestTheSocketsOfAStreamAreWatchedAtBothEnds(t *testing.T) {
	here, there := pairs(t, 4)
	o := measure.Options{Streams: 2, Direction: measure.Bidirectional}
	if _, err := here.TCP[1].Write(make([]byte, 1000)); err != nil { // forward, stream 1
		t.Fatal(err)
	}
	if _, err := there.TCP[2].Write(make([]byte, 2000)); err != nil { // reverse, stream 0
		t.Fatal(err)
	}
	client, server := figures(here.Watch(Client, o)), figures(there.Watch(Server, o))
	if client["forward.1.sent_bytes"] != 1000 || client["forward.0.sent_bytes"] != 0 || client["forward.1.mss_bytes"] < 500 || client["forward.1.send_buffer_bytes"] <= 0 {
		t.Errorf("the client sends forward: %v", client)
	}
	if server["reverse.0.sent_bytes"] != 2000 || server["reverse.0.rtt_ns"] <= 0 || server["reverse.0.congestion_state"] != 0 {
		t.Errorf("the server sends in reverse: %v", server)
	}
	if server["forward.1.receive_queue_bytes"] < 1000 || client["reverse.0.receive_queue_bytes"] < 2000 || client["reverse.0.receive_buffer_bytes"] <= 0 {
		t.Errorf("unread bytes: %v, %v", server, client)
	}
	if _, there := server["forward.1.rtt_ns"]; there {
		t.Error("a receiver has the columns of a sender")
	}
}

func TestTheFirstStreamsOfADirectionAreWatched(t *testing.T) {
	here, _ := pairs(t, 20)
	all := here.Watch(Client, measure.Options{Streams: 10, Direction: measure.Bidirectional})
	if len(all) != 2*mostWatched {
		t.Errorf("%d sources", len(all))
	}
	if got := (Conns{}).Watch(Client, measure.Options{Streams: 10}); len(got) != 0 {
		t.Errorf("%d sources of no connections", len(got))
	}
}

func TestAConnectionThatIsClosedIsUnknown(t *testing.T) {
	here, _ := pairs(t, 1)
	all := append(here.Watch(Client, measure.Options{Streams: 1, Direction: measure.Forward}), WatchControl(here.TCP[0]))
	if got := figures(all); got["forward.0.cwnd_bytes"] <= 0 || got["control.min_rtt_ns"] < 0 {
		t.Errorf("open: %v", got)
	}
	_ = here.TCP[0].Close()
	for key, v := range figures(all) {
		if v != series.Unknown {
			t.Errorf("closed: %s is %d", key, v)
		}
	}
	if got := WatchControl(struct{ net.Conn }{}); len(got.Columns) != 0 {
		t.Errorf("no socket: %v", got)
	}
}

func TestDatagramsHaveTheMemoryOfTheirSockets(t *testing.T) {
	a, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got := figures(Conns{UDP: []net.Conn{a}}.Watch(Server, measure.Options{Streams: 1, Direction: measure.Forward}))
	if got["forward.0.receive_buffer_bytes"] <= 0 || got["forward.0.socket_drops"] != 0 {
		t.Errorf("receiver: %v", got)
	}
	got = figures(Conns{UDP: []net.Conn{a}}.Watch(Client, measure.Options{Streams: 1, Direction: measure.Forward}))
	if got["forward.0.send_buffer_bytes"] <= 0 || got["forward.0.rtt_ns"] != series.Unknown {
		t.Errorf("sender: %v", got)
	}
	for key := range got {
		if !measure.SeriesKey(key) {
			t.Errorf("%q is no key", key)
		}
	}
}
