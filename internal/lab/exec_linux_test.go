package lab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestACommandKeepsItsStreamsAndExitStatus(t *testing.T) {
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b}]")
	var out, errs bytes.Buffer
	err := l.Exec(t.Context(), "a", []string{"sh", "-c", "cat; echo wrong >&2; exit 7"}, strings.NewReader("in"), &out, &errs)
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 7 || out.String() != "in" || errs.String() != "wrong\n" {
		t.Errorf("%v, out %q, err %q", err, out.String(), errs.String())
	}
	if err := l.Exec(t.Context(), "nobody", []string{"true"}, nil, nil, nil); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("unknown host: %v", err)
	}
	errs.Reset()
	err = l.Exec(t.Context(), "a", []string{"no-such-program"}, nil, nil, &errs)
	if err == nil || !strings.Contains(errs.String(), "no-such-program") {
		t.Errorf("unknown program: %v, %q", err, errs.String())
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	l := up(t, "hosts: {a: }")
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- l.Exec(ctx, "a", []string{"sh", "-c", "trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.01; done"}, nil, w, nil)
		w.Close()
	}()
	buf := make([]byte, 3)
	if _, err := io.ReadFull(r, buf); err != nil {
		t.Fatal(err)
	}
	cancel()
	rest, _ := io.ReadAll(r)
	if err := <-done; !errors.Is(err, context.Canceled) || string(rest) != "bye\n" {
		t.Errorf("%v, %q", err, rest)
	}
}

func TestEnterRefusesAnUnknownLab(t *testing.T) {
	for _, name := range []string{"../../proc/1/ns/net", "other", "soku-x/../y"} {
		if err := Enter(name, []string{"true"}); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
