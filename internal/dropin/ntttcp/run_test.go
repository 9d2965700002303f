package ntttcp

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/exchange"
)

const forever = 30 * time.Second

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// output is what a test printed, safe beside it.
type output struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.wrote <- struct{}{}:
	default:
	}
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// until waits for a line with text in it.
func (o *output) until(t *testing.T, text string) {
	t.Helper()
	over := time.After(forever)
	for !strings.Contains(o.String(), text) {
		select {
		case <-o.wrote:
		case <-over:
			t.Fatalf("no line with %q in:\n%s", text, o.String())
		}
	}
}

// running is a command that runs.
type running struct {
	out  *output
	stop context.CancelCauseFunc
	done chan error
}

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(forever):
		t.Fatalf("does not end:\n%s", r.out)
		return nil
	}
}

// start runs a command line.
func start(t *testing.T, line string) *running {
	t.Helper()
	o, notes, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	out := &output{wrote: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &running{out: out, stop: cancel, done: make(chan error, 1)}
	env := Env{Stdout: out, Now: time.Now, WriteFile: os.WriteFile, Version: "test", Hostname: "here", Append: func(name string) (io.WriteCloser, error) {
		return os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.done <- Run(ctx, o, notes, env)
	}()
	t.Cleanup(func() { cancel(nil); <-ended })
	return r
}

// row finds so many free ports in a row, below those that the system hands out.
func row(t *testing.T, n int) (first int) {
	t.Helper()
	for range 100 {
		first = 16000 + rand.IntN(16000)
		free := 0
		for i := range n {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+i))
			if err != nil {
				break
			}
			l.Close()
			free++
		}
		if free == n {
			return first
		}
	}
	t.Fatal("no free ports")
	return 0
}

type counted struct {
	MB      float64 `xml:"total_bytes"`
	Seconds float64 `xml:"realtime"`
	Conns   int     `xml:"conns_tested"`
	Threads []struct {
		Rate []float64 `xml:"throughput"`
	} `xml:"thread"`
}

func readXML(t *testing.T, name string) (c counted) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = xml.Unmarshal(b, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBothEndsMeasureTogether(t *testing.T) {
	for name, c := range map[string]struct{ both, receiver, sender string }{
		"sync":           {"-P 2", "", "-n 2 -l 2"},
		"no sync":        {"-P 2 -N", "", "-n 2 -l 2"},
		"buffers":        {"-P 2 -b 32K", "-e", "-n 2 -l 2 --no-delay"},
		"rate":           {"-P 2", "", "-n 2 -l 2 -B 80M"},
		"paced":          {"-P 2", "", "-n 2 -l 2 --fq-rate-limit 80M"},
		"udp":            {"-P 2 -u", "", "-n 2 -l 2 -B 80M -b 1000"},
		"udp, no sync":   {"-P 2 -u -N", "", "-n 2 -l 2 -B 80M -b 1000"},
		"cycle":          {"-P 2", "", "-n 2 -l 2 -W 1 -C 1"},
		"source":         {"-P 2", "", "-n 2 -l 2 -a 127.0.0.1 -B 80M"},
		"quiet, verbose": {"-P 2 -V -Q", "", "-n 2 -l 2"},
		"processor":      {"-P 2 -m 2,0,127.0.0.1", "", "-n 2 -l 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && (name == "source" || name == "processor") {
				t.Skip("only Linux keeps threads on a processor and sockets to an interface")
			}
			dir, port := t.TempDir(), row(t, 3)+1
			both := fmt.Sprintf("127.0.0.1 -p %d -t 1 -V %s ", port, c.both)
			r := start(t, "-r "+both+c.receiver+" -x "+filepath.Join(dir, "r.xml"))
			r.out.until(t, "threads created")
			s := start(t, "-s "+both+c.sender+" -x "+filepath.Join(dir, "s.xml"))
			if err := s.wait(t); err != nil {
				t.Fatalf("sender: %v\n%s", err, s.out)
			}
			if err := r.wait(t); err != nil {
				t.Fatalf("receiver: %v\n%s", err, r.out)
			}
			sent, received := readXML(t, filepath.Join(dir, "s.xml")), readXML(t, filepath.Join(dir, "r.xml"))
			if sent.Conns != 8 || len(sent.Threads) != 4 || len(received.Threads) != 2 {
				t.Errorf("%d connections, %d threads, %d ports", sent.Conns, len(sent.Threads), len(received.Threads))
			}
			if sent.MB <= 0 || received.MB <= 0 || sent.Seconds < 0.9 || received.Seconds < 0.9 {
				t.Errorf("sent %+v, received %+v", sent, received)
			}
			for _, text := range []string{"Test run completed.", "#####  Totals:  #####"} {
				if !strings.Contains(s.out.String(), text) || !strings.Contains(r.out.String(), text) {
					t.Errorf("no %q in\n%s\n%s", text, s.out, r.out)
				}
			}
		})
	}
}

func TestSeveralSendersRunTogether(t *testing.T) {
	port := row(t, 2) + 1
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -M -t 1", port))
	r.out.until(t, "threads created")
	line := fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 9 -B 8M", port)
	first := start(t, line)
	first.out.until(t, "waiting for the last client")
	last := start(t, line+" -L")
	for _, e := range []*running{first, last, r} {
		if err := e.wait(t); err != nil {
			t.Errorf("%v\n%s", err, e.out)
		}
	}
}

func TestAReceiverThatHoldsMeasuresAgain(t *testing.T) {
	for name, sync := range map[string]string{"sync": "", "no sync": "-N"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := row(t, 2) + 1
			r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -H -t 1 %s", port, sync))
			r.out.until(t, "threads created")
			for round := range 2 {
				s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 1 -B 8M %s", port, sync))
				if err := s.wait(t); err != nil {
					t.Fatalf("%v\n%s", err, s.out)
				}
				for strings.Count(r.out.String(), "cpu busy") <= round {
					r.out.until(t, "cpu busy")
				}
			}
			r.stop(measure.Errorf(measure.KindInterrupted, "interrupted"))
			if err := r.wait(t); measure.KindOf(err) != measure.KindInterrupted {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestAnInterruptEndsBothEndsWithTheirFigures(t *testing.T) {
	port := row(t, 2) + 1
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -t 0", port)) // until interrupted
	r.out.until(t, "threads created")
	s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 60 -B 8M", port))
	s.out.until(t, "Real-time")
	s.stop(measure.Errorf(measure.KindInterrupted, "interrupted"))
	if err := s.wait(t); measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("the sender ended with %v", err)
	}
	if err := r.wait(t); err != nil {
		t.Errorf("the receiver ended with %v", err)
	}
	for _, out := range []*output{s.out, r.out} {
		if !strings.Contains(out.String(), "#####  Totals:  #####") {
			t.Errorf("no figures in\n%s", out)
		}
	}
}

func TestFilesAreWritten(t *testing.T) {
	dir, port := t.TempDir(), row(t, 2)+1
	console, doc := filepath.Join(dir, "c.log"), filepath.Join(dir, "r.json")
	if err := os.WriteFile(console, []byte("of a test before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -t 1 -O %s -j %s", port, console, doc))
	r.out.until(t, "threads created")
	s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 1 -B 8M", port))
	for _, e := range []*running{s, r} {
		if err := e.wait(t); err != nil {
			t.Fatalf("%v\n%s", err, e.out)
		}
	}
	b, err := os.ReadFile(console)
	if err != nil || !strings.Contains(string(b), "cpu busy") || strings.Contains(string(b), "before") {
		t.Errorf("the console's file: %v\n%s", err, b)
	}
	b, err = os.ReadFile(doc)
	if err != nil || !json.Valid(b) {
		t.Errorf("the document: %v\n%s", err, b)
	}
}

func TestWhatIsNotThereIsSaidAtOnce(t *testing.T) {
	port := row(t, 2) + 1
	for line, kind := range map[string]measure.Kind{
		fmt.Sprintf("-s 127.0.0.1 -p %d -t 1", port):                    measure.KindUnreachable,
		fmt.Sprintf("-s 127.0.0.1 -p %d -t 1 -N", port):                 measure.KindUnreachable,
		fmt.Sprintf("-s 127.0.0.1 -p %d -a 192.0.2.77", port):           measure.KindUsage,
		fmt.Sprintf("-r 192.0.2.77 -p %d", port):                        measure.KindUsage,
		fmt.Sprintf("-r -p %d --show-nic-packets no-such-card", port):   measure.KindUsage,
		fmt.Sprintf("-r 127.0.0.1 -p %d -O /no/such/folder/file", port): measure.KindUsage,
		fmt.Sprintf("-r -p %d -m 1,60000,127.0.0.1", port):              measure.KindUsage,
	} {
		r := start(t, line)
		if err := r.wait(t); measure.KindOf(err) != kind {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// recorded is what real ntttcp said.
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

// dataOf is how many bytes go over the data connections of x.
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
	for name, line := range map[string]string{
		"sync": "-P 2 -t 1", "multi": "-P 1 -M -t 1", "nosync": "-P 1 -N -t 1", "udp": "-P 1 -u -t 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, base, file := recorded(t, name), row(t, 3)+1, filepath.Join(t.TempDir(), "r.xml")
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
				return // the player sends all at once; what finds no room is lost
			}
			if got != want {
				t.Errorf("counted %v MB of %v", got, want)
			}
		})
	}
}

// onceRun takes one "run" where ntttcp says it twice to the last of several senders.
func onceRun(c net.Conn, s exchange.Step) error {
	err := exchange.Same(c, s)
	if errors.Is(err, io.EOF) && string(s.Bytes) == "\x00\x00\x00R" {
		return nil
	}
	return err
}

func TestTheSenderGoesThroughWhatRecordedReceiversSay(t *testing.T) {
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

// alike takes any bytes of a test, and for a sender's last word the question that
// soku asks first.
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
