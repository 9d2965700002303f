package agent

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func newReportReader(limit int) *reportReader {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &reportReader{barrier: newBarrier(ctx, cancel, Hooks{}, nil, nil, Spec{}), done: func() {}, within: func(time.Duration) {}, limit: limit, began: time.Now()}
}

func TestALineWithoutEndIsRefused(t *testing.T) {
	r := newReportReader(1 << 20)
	whole := []byte(strings.Repeat("x", maxStrayBytes) + "\n")
	if _, err := r.Write(whole); err != nil {
		t.Errorf("a line below the limit: %v", err)
	}
	var err error
	for range 1025 {
		if _, err = r.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
			break
		}
	}
	if !errors.Is(err, errTooLong) || r.buf.Cap() > 4<<20 {
		t.Errorf("error %v, %d bytes kept", err, r.buf.Cap())
	}
}

func TestTheResultIsTheLastLine(t *testing.T) {
	r := newReportReader(1 << 20)
	n := 0
	r.hooks.Progress = func(measure.Progress) { n++ }
	in := "hello\n" + `{"progress":{"bytes":1}}` + "\n" + `{"later":1}` + "\n" + `{"result":{"schema":"soku.result/1","id":"a"}}` + "\n" + `{"progress":{"bytes":1}}` + "\n" + `{"result":{"schema":"soku.result/1","id":"b"}}` + "\n"
	for _, b := range []byte(in) { // as slowly as it can come
		if _, err := r.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if r.result == nil || r.result.ID != "a" || n != 1 || r.stray != "" {
		t.Errorf("result %+v, %d intervals, stray %q", r.result, n, r.stray)
	}
}

// The memory that a line may take follows from the trial, not from the largest one that there is.
func TestALineIsLimitedByItsTrial(t *testing.T) {
	r := newReportReader(maxReport)
	part := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for i := 0; i < 256 && err == nil; i++ {
		_, err = r.Write(part)
	}
	if !errors.Is(err, errTooLong) || r.buf.Cap() > 64<<20 {
		t.Errorf("error %v, %d bytes kept", err, r.buf.Cap())
	}
}

func TestLinesThatAreNoReportsAreFew(t *testing.T) {
	const progress = `{"progress":{"bytes":1}}` + "\n"
	for _, c := range []struct {
		line string
		most int
	}{{"{}\n", maxStrayLines}, {"\n", maxStrayLines}, {strings.Repeat("x", 1<<10) + "\n", maxStrayBytes >> 10}} {
		r := newReportReader(maxReport)
		for range 3 { // a report between them begins the count again
			if _, err := r.Write([]byte(strings.Repeat(c.line, c.most) + progress)); err != nil {
				t.Errorf("%d lines of %d bytes: %v", c.most, len(c.line), err)
			}
		}
		if _, err := r.Write([]byte(strings.Repeat(c.line, c.most+1))); !errors.Is(err, errNoReport) {
			t.Errorf("%d lines of %d bytes: %v", c.most+1, len(c.line), err)
		}
	}
}

// A child that reports progress, or nothing, for ever is killed.
func TestATrialHasAsMuchTimeAsItsOptionsSay(t *testing.T) {
	r := newReportReader(maxReport)
	var within []time.Duration
	r.within = func(d time.Duration) { within = append(within, d) }
	s := Spec{Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP)}
	s.Options.Omit, s.Options.Duration = measure.Duration(time.Second), measure.Duration(5*time.Second)
	r.longest = s.Longest()
	const progress = `{"progress":{"bytes":1}}` + "\n"
	if _, err := r.Write([]byte(progress + progress + `{"result":{"schema":"soku.result/1","id":"a"}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{6*time.Second + overtime, longestExit}; !slices.Equal(within, want) {
		t.Errorf("%v, want %v", within, want)
	}
	s.Options.Bytes, s.Options.Duration = 1, 0
	if d := s.Longest(); d != 0 {
		t.Errorf("a trial of an amount has %v", d)
	}
	alone := Spec{Test: measure.TestPing, Options: option.Defaults(measure.TestPing)}
	if d := alone.Longest(); alone.Options.Duration == 0 || d != 0 {
		t.Errorf("a trial of %v without a server has %v", alone.Options.Duration, d)
	}
}

func FuzzReports(f *testing.F) {
	f.Add([]byte(`{"progress":{"bytes":1}}`+"\n"+`{"result":{"schema":"soku.result/1","id":"x"}}`+"\n"), 7)
	f.Add([]byte("Welcome\n{\"ready\":true}\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		whole, parts := newReportReader(1<<20), newReportReader(1<<20)
		_, _ = whole.Write(in)
		for rest, step := in, max(step%100, 1); len(rest) > 0; rest = rest[min(step, len(rest)):] {
			_, _ = parts.Write(rest[:min(step, len(rest))])
		}
		if (whole.result == nil) != (parts.result == nil) || whole.stray != parts.stray || len(whole.stray) > maxStray {
			t.Errorf("in one piece: %v %q, in parts: %v %q", whole.result, whole.stray, parts.result, parts.stray)
		}
	})
}
