package agent

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

func newReportReader(limit int) *reportReader {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &reportReader{barrier: newBarrier(ctx, cancel, nil, nil, measure.Endpoint{}), done: func() {}, limit: limit, began: time.Now()}
}

func TestALineWithoutEndIsRefused(t *testing.T) {
	r := newReportReader(1 << 20)
	whole := []byte(strings.Repeat("x", 1<<20-1) + "\n")
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
