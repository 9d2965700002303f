package ntttcp

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/durable"
)

const forever = 30 * time.Second

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// output is what a test printed; it is safe for concurrent use.
type output struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote chan struct{}
	last  string // the program is interrupted while it writes a text that has this; "": never
	stop  func()
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != "" && bytes.Contains(p, []byte(o.last)) {
		o.stop()
	}
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

// interruptAt interrupts the program while it next writes text, before its next step.
func (o *output) interruptAt(text string, stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.stop = text, stop
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

// running is a running command.
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
	env := Env{Stdout: out, Now: time.Now, WriteFile: os.WriteFile, TryWrite: durable.Try, Version: "test", Hostname: "here", Append: func(name string) (io.WriteCloser, error) {
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
