package tcp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
)

// kept is a sink whose content the test reads.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }
func (full) Close() error              { return nil }

func TestAStreamCarriesItsContentsToTheirEnd(t *testing.T) {
	text := strings.Repeat("what a file has, ", 40_000)
	for _, rate := range []measure.Rate{0, 50_000_000} {
		a, b := loopback.TCP(t, 1)
		var sink kept
		over := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			m := engine.FlowPolicy{KeepOpen: true, Over: over, Contents: engine.Contents{Sink: func() (io.WriteCloser, error) { return &sink, nil }}}
			_, err := Receive(t.Context(), b, endless(1), engine.Flow{Direction: measure.Forward, Policy: m})
			done <- err
		}()
		o := options(time.Minute, 1)
		o.Rate = rate
		source := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Contents: engine.Contents{Source: source}}})
		close(over)
		if err := errors.Join(err, <-done); err != nil || sentBytes(end) != int64(len(text)) || sink.String() != text {
			t.Errorf("sent %d bytes of %d, kept %d: %v", sentBytes(end), len(text), sink.Len(), err)
		}
	}
}

func TestContentsThatCannotBeReadOrWrittenAreAnError(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	none := engine.Contents{Source: func() (io.ReadCloser, error) { return nil, errors.New("no such file") }}
	if _, err := Send(t.Context(), a, options(time.Second, 1), engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Contents: none}}); measure.KindOf(err) != measure.KindFile {
		t.Errorf("%v", err)
	}
	if _, err := a[0].Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	small := engine.Contents{Sink: func() (io.WriteCloser, error) { return full{}, nil }}
	if _, err := Receive(t.Context(), b, options(time.Minute, 1), engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Contents: small}}); measure.KindOf(err) != measure.KindFile {
		t.Errorf("%v", err)
	}
}

// late is a sink whose Close fails, as that of a network file may.
type late struct{ bytes.Buffer }

func (*late) Close() error { return errors.New("no room after all") }

func TestAFailedCloseOfASinkIsAnError(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	over := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		m := engine.FlowPolicy{KeepOpen: true, Over: over, Contents: engine.Contents{Sink: func() (io.WriteCloser, error) { return &late{}, nil }}}
		_, err := Receive(t.Context(), b, endless(1), engine.Flow{Direction: measure.Forward, Policy: m})
		done <- err
	}()
	source := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("what a file has")), nil }
	if _, err := Send(t.Context(), a, options(time.Minute, 1), engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Contents: engine.Contents{Source: source}}}); err != nil {
		t.Fatal(err)
	}
	close(over)
	if err := <-done; measure.KindOf(err) != measure.KindFile {
		t.Errorf("%v", err)
	}
}
