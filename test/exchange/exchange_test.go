package exchange

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

const talk = `soku exchange 1
# a remark
note hello 1.0
1 > open tcp 8888
1 > 68656c6c6f
1 < 776f726c64
2 > open udp 8888
2 > 01
2 < 02
1 > more 100000
1 > end
1 < more 3
1 < end
`

func read(t testing.TB, text string) *Exchange {
	t.Helper()
	x, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAnExchangeSurvivesWritingAndReading(t *testing.T) {
	x := read(t, talk)
	x.Steps[1].Bytes = []byte(strings.Repeat("long", 100)) // over several lines
	var b strings.Builder
	if _, err := x.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b.String()); !reflect.DeepEqual(got, x) {
		t.Errorf("got %+v\nwant %+v", got, x)
	}
}

func TestAnInvalidExchangeIsRefusedWithItsLine(t *testing.T) {
	for name, text := range map[string]string{
		"no first line":     "1 > open tcp 1\n",
		"not hexadecimal":   "soku exchange 1\n1 > open tcp 1\n1 > xx\n",
		"not opened":        "soku exchange 1\n1 > 00\n",
		"opened twice":      "soku exchange 1\n1 > open tcp 1\n1 > open tcp 1\n",
		"opened by server":  "soku exchange 1\n1 < open tcp 1\n",
		"after the end":     "soku exchange 1\n1 > open tcp 1\n1 > end\n1 > 00\n",
		"after a reset":     "soku exchange 1\n1 > open tcp 1\n1 > reset\n1 < 00\n",
		"no end":            "soku exchange 1\n1 ? 00\n",
		"nothing to add to": "soku exchange 1\n+ 00\n",
		"port":              "soku exchange 1\n1 > open tcp 65536\n",
		"less than nothing": "soku exchange 1\n1 > open tcp 1\n1 > more -1\n",
		"a long line":       "soku exchange 1\n#" + strings.Repeat("x", maxLine),
		"too many":          "soku exchange 1\n" + strings.Repeat("note x\n", maxConns+2),
	} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzReadKeepsBoundedData(f *testing.F) {
	f.Add(talk)
	f.Add("soku exchange 1\n1 > open udp 65535\n1 > \n+ 00\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		kept := 0
		for _, s := range x.Steps {
			kept += len(s.Bytes)
		}
		if 2*kept > len(text) {
			t.Fatalf("%d bytes out of %d characters", kept, len(text))
		}
		var b strings.Builder
		if _, err := x.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(strings.NewReader(b.String())); err != nil || len(again.Steps) != len(x.Steps) {
			t.Fatalf("written and read back: %v", err)
		}
	})
}

// both plays the server of x at one end and the client of y at the other.
func both(t *testing.T, server, client *Exchange) (serverErr, clientErr error) {
	t.Helper()
	ports, err := Listen(server, "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	done := make(chan error, 1)
	go func() {
		p := Player{Exchange: server, As: Server, Open: ports.Accept}
		done <- p.Play(t.Context())
	}()
	c := Player{Exchange: client, As: Client, Open: func(network string, port int) (net.Conn, error) {
		return net.Dial(network, ports.At(port).String())
	}}
	clientErr = c.Play(t.Context())
	return <-done, clientErr
}

func TestTwoPlayersReplayOneExchange(t *testing.T) {
	x := read(t, talk)
	if a, b := both(t, x, x); a != nil || b != nil {
		t.Error(a, b)
	}
}

func TestADifferingMessageIsDetected(t *testing.T) {
	other := read(t, strings.Replace(talk, "68656c6c6f", "68656c6c6e", 1))
	if a, _ := both(t, read(t, talk), other); a == nil || !strings.Contains(a.Error(), "step 2 ") || !strings.Contains(a.Error(), "68656c6c6e") {
		t.Errorf("the server says %v", a)
	}
}

func TestAPlayerEndsWithItsContext(t *testing.T) {
	x := read(t, talk)
	ports, err := Listen(x, "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	c, err := net.Dial("tcp", ports.At(8888).String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p := Player{Exchange: x, As: Server, Open: ports.Accept}
	began := time.Now()
	if err := p.Play(ctx); err == nil || time.Since(began) > defaultTimeout/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestARelayRecordsItsTraffic(t *testing.T) {
	x := read(t, `soku exchange 1
1 > open tcp 8888
1 > 68656c6c6f
1 < 776f726c64
2 > open udp 8888
2 > 0103
2 < 02
1 > 99
1 < 98
1 > end
1 < end
`)
	ports, err := Listen(x, "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	port := int(ports.At(8888).Port())
	relay := &Relay{From: "127.0.0.2", To: "127.0.0.1", Ports: []int{port}, Whole: 100}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	listening, kept := make(chan struct{}), make(chan *Exchange, 1)
	go func() {
		got, err := relay.Run(ctx, func() { close(listening) })
		if err != nil {
			t.Error(err)
			close(listening)
		}
		kept <- got
	}()
	<-listening
	if t.Failed() {
		t.Skip("127.0.0.2 is no address of this host")
	}
	server := make(chan error, 1)
	go func() {
		p := Player{Exchange: x, As: Server, Open: ports.Accept}
		server <- p.Play(t.Context())
	}()
	client := Player{Exchange: x, As: Client, Open: func(network string, _ int) (net.Conn, error) {
		return net.Dial(network, net.JoinHostPort("127.0.0.2", strconv.Itoa(port)))
	}}
	if err := errors.Join(client.Play(t.Context()), <-server); err != nil {
		t.Fatal(err)
	}
	stop()
	got := <-kept
	for i := range got.Steps {
		if got.Steps[i].Kind == Open {
			got.Steps[i].Port = 8888
		}
	}
	if !reflect.DeepEqual(got.Steps, x.Steps) {
		var b strings.Builder
		_, _ = got.WriteTo(&b)
		t.Errorf("kept:\n%s", b.String())
	}
}

func TestARelayCountsBytesThatItDoesNotKeep(t *testing.T) {
	r := &Relay{Whole: 4, kept: map[direction]int{}}
	c := r.open("tcp", 1)
	d := r.open("udp", 1)
	r.saw(direction{c, Client}, []byte("abc"), true)
	r.saw(direction{c, Client}, []byte("def"), true)
	r.saw(direction{d, Client}, []byte("xyz"), false)
	r.saw(direction{d, Client}, []byte("xyz"), false)
	r.saw(direction{c, Client}, []byte("ghi"), true)
	r.ended(direction{c, Client}, io.ErrUnexpectedEOF)
	r.ended(direction{c, Server}, io.ErrUnexpectedEOF)
	want := read(t, "soku exchange 1\n1 > open tcp 1\n2 > open udp 1\n1 > 61626364\n1 > more 5\n2 > 78797a\n2 > more 3\n1 > reset\n")
	if !reflect.DeepEqual(r.x.Steps, want.Steps) {
		t.Errorf("kept %+v", r.x.Steps)
	}
}
