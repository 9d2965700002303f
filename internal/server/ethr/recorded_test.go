package ethr

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/server"
	wire "soku/internal/wire/ethr"
	"soku/test/exchange"
	"soku/test/servertest"
	"soku/test/tier"
)

// recorded is an exchange of real programs.
func recorded(t *testing.T, name string) *exchange.Exchange {
	t.Helper()
	f, err := os.Open("../../wire/ethr/testdata/" + name + ".exchange")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := exchange.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// frameOf splits b after the message that it begins with. frame is nil if b begins with payload.
func frameOf(b []byte) (frame, rest []byte) {
	if len(b) < 64 {
		return nil, b
	}
	if ours, more := wire.Begins(b[:64]); !ours || more > 0 {
		return nil, b
	}
	n := 4 + int(binary.BigEndian.Uint32(b))
	return b[:n], b[n:]
}

// payloadOf returns the number of payload bytes and datagrams that the end sent, without its messages.
func payloadOf(x *exchange.Exchange, from exchange.From) (bytes, steps int64) {
	for _, s := range x.Steps {
		if s.From != from || s.Kind != exchange.Bytes && s.Kind != exchange.More {
			continue
		}
		rest := s.Bytes
		for frame := rest; frame != nil; {
			frame, rest = frameOf(rest)
		}
		bytes += int64(len(rest)) + s.N
		steps++
	}
	return bytes, steps
}

// says reads the messages that s has, of the same kinds, and as much payload.
func says(c net.Conn, s exchange.Step) error {
	rest := s.Bytes
	for {
		frame, left := frameOf(rest)
		if frame == nil {
			break
		}
		want, err := wire.Decode(frame[4:])
		if err != nil {
			return err
		}
		got, err := wire.Read(c)
		if err != nil {
			return err
		}
		if got.Kind != want.Kind || got.Delay > time.Second || (got.Delay == 0) != (want.Delay == 0) {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
		rest = left
	}
	_, err := io.ReadFull(c, make([]byte, len(rest)))
	return err
}

// play plays a recorded client against the server at the address.
func play(t *testing.T, name string, at netip.AddrPort) error {
	t.Helper()
	p := exchange.Player{Exchange: recorded(t, name), As: exchange.Client, Expect: says, Open: func(network string, _ int) (net.Conn, error) {
		return net.Dial(network, at.String())
	}}
	return p.Play(t.Context())
}

// ended waits for the line of the log that ends a test of Ethr and returns what it says of key.
func (r *running) ended(network, key string) string {
	r.t.Helper()
	line := regexp.MustCompile(`msg="test ended" protocol=ethr client=127.0.0.1 network=` + network + `.* ` + key + `=(\S+)`)
	var found []string
	servertest.Eventually(r.t, 5*time.Second, "the log has no end of the test", func() bool {
		found = line.FindStringSubmatch(r.Logs())
		return found != nil
	})
	return found[1]
}

func TestRecordedClientsOfEthrAreServed(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-tcp", "new-tcp-two", "v1-tcp", "v1-tcp-two", "mixed-tcp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := serve(t, server.Config{}, Hooks{})
			if err := play(t, name, at); err != nil {
				t.Fatal(err)
			}
			// A reset throws away what the server has not read yet.
			sent, _ := payloadOf(recorded(t, name), exchange.Client)
			var got int64
			if _, err := fmt.Sscan(r.ended("tcp", "bytes"), &got); err != nil || got > sent || got < min(sent/100, 1000) {
				t.Errorf("%d bytes of %d, %v", got, sent, err)
			}
		})
	}
}

func TestARecordedEthrClientIsRecognisedByItsFirstBytes(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r := servertest.Start(t, server.Config{Foreign: []server.Foreign{{Protocol: New(Hooks{})}}})
	if err := play(t, "new-tcp", r.Addr()); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	if !strings.Contains(r.Logs(), "protocol=ethr") {
		t.Error("the log has no test of Ethr")
	}
}

func TestRecordedClientsOfEthrAreSentTo(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-tcp-reverse", "v1-tcp-reverse", "mixed-tcp-reverse"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := serve(t, server.Config{}, Hooks{})
			p := exchange.Player{Exchange: untilPayload(recorded(t, name)), As: exchange.Client, Expect: says, Open: func(network string, _ int) (net.Conn, error) {
				return net.Dial(network, at.String())
			}}
			if err := p.Play(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.ended("tcp", "bytes")
		})
	}
}

// untilPayload is x until the first payload of the server, which goes on until the
// client closes.
func untilPayload(x *exchange.Exchange) *exchange.Exchange {
	for i, s := range x.Steps {
		if s.Kind == exchange.More {
			return &exchange.Exchange{Steps: x.Steps[:i]}
		}
	}
	return x
}

func TestRecordedRoundTripsOfEthrAreAnswered(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-latency", "v1-latency"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			batches := 0
			r, at := serve(t, server.Config{}, Hooks{RoundTrips: func(_ netip.Addr, trips []time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if batches++; len(trips) != 20 {
					t.Errorf("a batch of %d round trips", len(trips))
				}
			}})
			if err := play(t, name, at); err != nil {
				t.Fatal(err)
			}
			r.ended("tcp", "bytes")
			mu.Lock()
			defer mu.Unlock()
			if batches != 3 {
				t.Errorf("%d batches", batches)
			}
		})
	}
}

// They come without a connection: they are shown, but are no test of the server's log.
func TestRecordedDatagramsOfEthrAreCounted(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-udp", "v1-udp", "new-packets", "v1-packets"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var counted, datagrams atomic.Uint64
			over := make(chan struct{}, 1)
			r, at := serve(t, server.Config{}, Hooks{
				Second: func(rows []Row) {
					for _, x := range rows {
						counted.Add(x.Bytes)
						datagrams.Add(x.Packets)
					}
				},
				Over: func(netip.Addr, bool) { over <- struct{}{} },
			})
			if err := play(t, name, at); err != nil {
				t.Fatal(err)
			}
			<-over
			if sent, _ := payloadOf(recorded(t, name), exchange.Client); int64(counted.Load()) != sent {
				t.Errorf("%d bytes of %d", counted.Load(), sent)
			}
			r.Stop()
			summary := fmt.Sprintf("addresses=1 datagrams=%d bytes=%d", datagrams.Load(), counted.Load())
			if got := strings.Contains(r.Logs(), summary); got != (datagrams.Load() >= leastReported) || strings.Contains(r.Logs(), "test ended") {
				t.Errorf("%d datagrams, and the log is %s", datagrams.Load(), r.Logs())
			}
		})
	}
}

func TestRecordedConnectionsOfEthrAreCounted(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-ping", "v1-ping"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := serve(t, server.Config{}, Hooks{})
			if err := play(t, name, at); err != nil {
				t.Fatal(err)
			}
			x := recorded(t, name)
			if got, want := r.ended("tcp", "connections"), x.Steps[len(x.Steps)-1].Conn; got != fmt.Sprint(want) {
				t.Errorf("%s connections of %d", got, want)
			}
		})
	}
}

func TestPayloadInTheQuestionsPlaceIsCounted(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	r, at := serve(t, server.Config{}, Hooks{})
	c, err := ask(t, at, syn(func(m *wire.Message) { m.Synced = true }))
	if err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 5000)
	for i := range payload {
		payload[i] = byte(i)
	}
	if _, err := c.Write(payload); err != nil {
		t.Fatal(err)
	}
	_ = c.CloseWrite()
	if got := r.ended("tcp", "bytes"); got != "5000" {
		t.Errorf("%s bytes of 5000", got)
	}
}

func TestAServerThatEndsReportsThePartialSecond(t *testing.T) {
	begun := make(chan struct{}, 1)
	var connections atomic.Uint64
	r, at := serve(t, server.Config{}, Hooks{
		Client: func(netip.Addr, bool) { begun <- struct{}{} },
		Second: func(rows []Row) {
			for _, x := range rows {
				connections.Add(x.Connections)
			}
		},
	})
	if _, err := ask(t, at, syn(nil)); err != nil {
		t.Fatal(err)
	}
	<-begun
	time.Sleep(2 * time.Duration(leastPart*float64(time.Second))) // that is worth a rate; a second ends later
	r.Stop()
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
