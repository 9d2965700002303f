package ntttcp

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"soku/test/exchange"
	"soku/test/freeport"
	"soku/test/tier"
)

// recorded has the exchanges of real ntttcp.
func recorded(t *testing.T, name string) *exchange.Exchange {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "wire", "ntttcp", "testdata", "exchange", name+".txt"))
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

// dataOf is the number of bytes on the data connections of x.
func dataOf(x *exchange.Exchange) (n int64) {
	data := map[int]bool{}
	for _, s := range x.Steps {
		if s.Kind == exchange.Open {
			data[s.Conn] = s.Port != 15000
		}
		if data[s.Conn] && s.From == exchange.Client {
			n += int64(len(s.Bytes)) + s.N
		}
	}
	return n
}

func TestTheReceiverCountsWhatRecordedSendersSend(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, line := range map[string]string{
		"sync": "-P 2 -t 1", "multi": "-P 1 -M -t 1", "nosync": "-P 1 -N -t 1", "udp": "-P 1 -u -t 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, base, file := recorded(t, name), freeport.Row(t, 3)+1, filepath.Join(t.TempDir(), "r.xml")
			r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d %s -x %s", base, line, file))
			r.out.until(t, "threads created")
			p := exchange.Player{Exchange: x, As: exchange.Client, Expect: onceRun, Open: func(network string, port int) (net.Conn, error) {
				return net.Dial(network, fmt.Sprintf("127.0.0.1:%d", base+port-15001))
			}}
			if err := p.Play(t.Context()); err != nil {
				t.Error(err)
			}
			if err := r.wait(t); err != nil {
				t.Fatalf("%v\n%s", err, r.out)
			}
			got, want := readXML(t, file).MB, float64(dataOf(x))/1e6
			if name == "udp" && got > 0 && got <= want {
				return // the player sends without pacing; datagrams that do not fit into the buffer are lost
			}
			if got != want {
				t.Errorf("counted %v MB of %v", got, want)
			}
		})
	}
}

// onceRun expects one "run" where ntttcp sends it twice to the last of several senders.
func onceRun(c net.Conn, s exchange.Step) error {
	err := exchange.Same(c, s)
	if errors.Is(err, io.EOF) && string(s.Bytes) == "\x00\x00\x00R" {
		return nil
	}
	return err
}

func TestTheSenderRunsAgainstRecordedReceivers(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, line := range map[string]string{
		"sync":   "-P 2 -n 1 -l 2 -t 1 -B 8M",
		"cycle":  "-P 1 -n 1 -W 1 -t 1 -C 1 -B 8M",
		"longer": "-P 1 -n 1 -t 1 -B 8M",
		"udp":    "-P 1 -n 1 -u -t 1 -b 40 -B 80K",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := recorded(t, name)
			var ports *exchange.Ports
			var shift int
			for err := io.EOF; err != nil; {
				shift = 1 + rand.IntN(15000)
				ports, err = exchange.Listen(x, "127.0.0.1", shift)
			}
			defer ports.Close()
			played := make(chan error, 1)
			go func() {
				p := exchange.Player{Exchange: x, As: exchange.Server, Open: ports.Accept, Expect: alike}
				played <- p.Play(t.Context())
			}()
			s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d %s", 15001+shift, line))
			if err := s.wait(t); err != nil {
				t.Fatalf("%v\n%s", err, s.out)
			}
			if err := <-played; err != nil {
				t.Errorf("%v\n%s", err, s.out)
			}
		})
	}
}

// alike accepts any payload of a test, and in place of a sender's last message the state
// request that soku sends first.
func alike(c net.Conn, s exchange.Step) error {
	got := make([]byte, len(s.Bytes))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if len(got) == 4 && string(got) != string(s.Bytes) && (string(s.Bytes) != "\x00\x00\x00E" || string(got) != "\x00\x00\x00X") {
		return fmt.Errorf("got %x", got)
	}
	return nil
}
