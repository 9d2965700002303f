package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"soku/internal/agent"
	"soku/internal/measure"
)

// placeFunc is a function as a place.
type placeFunc func(context.Context, agent.Spec, agent.Hooks) *measure.Result

func (f placeFunc) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	return f(ctx, s, h)
}

func TestTheEndOfTheInputEndsTheTrial(t *testing.T) {
	in, feed := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	begun := make(chan struct{})
	var cause error
	go func() {
		done <- agent.Serve(context.Background(), in, &out, placeFunc(func(ctx context.Context, _ agent.Spec, _ agent.Hooks) *measure.Result {
			close(begun)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return &measure.Result{Schema: measure.Schema, ID: "x"}
		}))
	}()
	if _, err := io.WriteString(feed, `{"schema":"soku.trial/1","test":"ping","host":"h"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	_ = feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if measure.KindOf(cause) != measure.KindInterrupted {
		t.Errorf("the trial ended with %v", cause)
	}
}

func TestAChildWhoseContextEndsDoesNotWaitForItsInput(t *testing.T) {
	in, feed := io.Pipe() // stays open, as that of a caller that does not read the result
	defer feed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	reports, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- agent.Serve(ctx, in, out, placeFunc(func(context.Context, agent.Spec, agent.Hooks) *measure.Result {
			return &measure.Result{Schema: measure.Schema, ID: "x"}
		}))
	}()
	if _, err := io.WriteString(feed, `{"schema":"soku.trial/1","test":"ping","host":"h"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(reports).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAnInputThatIsNoTrialIsRefused(t *testing.T) {
	for _, in := range []string{"", "\n", "hello\n", `{"schema":"soku.trial/9"}` + "\n", `{"schema":"soku.trial/1"}`, strings.Repeat("x", 2<<20)} {
		err := agent.Serve(t.Context(), strings.NewReader(in), io.Discard, nil)
		if measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%.20q: %v", in, err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestATrialEndsIfItsReportsCannotBeWritten(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = io.WriteString(feed, `{"schema":"soku.trial/1","test":"ping"}`+"\n") }()
	err := agent.Serve(t.Context(), in, brokenWriter{}, placeFunc(func(ctx context.Context, _ agent.Spec, h agent.Hooks) *measure.Result {
		h.Progress(measure.Progress{})
		<-ctx.Done()
		return &measure.Result{Schema: measure.Schema}
	}))
	if measure.KindOf(err) != measure.KindBroken {
		t.Errorf("error is %v", err)
	}
}

// The lines that a version without the start barrier writes and reads.
func TestWithoutABarrierTheLinesAreAsTheyWere(t *testing.T) {
	in := `{"schema":"soku.trial/1","test":"tcp","options":{"duration_ns":1},"host":"h","trial":{"levels":null}}` + "\n"
	var out bytes.Buffer
	err := agent.Serve(t.Context(), strings.NewReader(in), &out, placeFunc(func(_ context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
		if h.Ready != nil || s.Test != measure.TestTCP || s.Host != "h" {
			t.Errorf("spec %+v", s)
		}
		h.Progress(measure.Progress{Bytes: 7})
		return &measure.Result{Schema: measure.Schema, ID: "x"}
	}))
	lines := strings.Split(out.String(), "\n")
	if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], `{"progress":{`) || !strings.HasPrefix(lines[1], `{"result":{"schema":"`+measure.Schema+`"`) {
		t.Errorf("%v, wrote %q", err, lines)
	}
}

func TestAStartComesAfterLinesThatAreNotKnown(t *testing.T) {
	in := `{"schema":"soku.trial/1","test":"tcp","await_start":true,"later":{"member":1}}` + "\n" +
		strings.Repeat("x", 100<<10) + "\n" + `{"later":true}` + "\n\n[]\n" + `{"start":true}` + "\n" + `{"start":true}` + "\n"
	r, feed := io.Pipe()
	var out bytes.Buffer
	go func() { _, _ = io.WriteString(feed, in) }()
	err := agent.Serve(t.Context(), r, &out, placeFunc(func(ctx context.Context, _ agent.Spec, h agent.Hooks) *measure.Result {
		defer feed.Close()
		if _, err := h.Ready(ctx, 0); err != nil {
			t.Error(err)
		}
		return &measure.Result{Schema: measure.Schema, ID: "x"}
	}))
	if err != nil || !strings.HasPrefix(out.String(), `{"ready":true}`+"\n"+`{"result":`) {
		t.Errorf("%v, wrote %q", err, out.String())
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"schema":"soku.trial/1","test":"tcp","options":{"duration_ns":1},"host":"h","trial":{"levels":null}}` + "\n"))
	f.Add([]byte(`{"schema":"soku.trial/1","test":"udp","host":"h","await_start":true}` + "\n" + `{"start":true}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_ = agent.Serve(t.Context(), bytes.NewReader(in), io.Discard, placeFunc(func(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
			if h.Ready != nil {
				_, _ = h.Ready(ctx, 0) // ends: the input does
			}
			return &measure.Result{Schema: measure.Schema, ID: s.Host}
		}))
	})
}
