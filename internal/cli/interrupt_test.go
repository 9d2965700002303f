package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

// interrupting is an output that sends an interrupt after a number of lines.
type interrupting struct {
	bytes.Buffer
	after int
	to    chan os.Signal
}

func (w *interrupting) Write(p []byte) (int, error) {
	if n := bytes.Count(p, []byte("\n")); w.after > 0 && n > 0 {
		if w.after -= n; w.after <= 0 {
			w.to <- os.Interrupt
		}
	}
	return w.Buffer.Write(p)
}

func TestAnInterruptedTestShowsWhatArrivedUntilThen(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, args := range [][]string{
		{"tcp", addr},
		{"tcp", addr, "-R"},
		{"tcp", addr, "--bidir"},
		{"udp", addr, "-b", "20M"},
	} {
		sys, _, errs := fakeSystem(t, append(args, "-t", "60s", "-i", "100ms")...)
		interrupts := make(chan os.Signal, 1)
		out := &interrupting{after: 7, to: interrupts}
		sys.Stdout, sys.Interrupts = out, interrupts
		code := Run(sys)
		if code != 130 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%v: status %d, %s", args, code, errs)
		}
		if text := out.String(); strings.Contains(text, "not known") || !strings.Contains(text, "bit/s counted at the receiver") && !strings.Contains(text, "together") {
			t.Errorf("%v:\n%s", args, text)
		}
	}
}

func TestAnInterruptedPingEndsWithItsStatistics(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	sys, _, errs := fakeSystem(t, "ping", "127.0.0.1", "-t", "60s", "-i", "100ms")
	interrupts := make(chan os.Signal, 1)
	out := &interrupting{after: 3, to: interrupts}
	sys.Stdout, sys.Interrupts = out, interrupts
	code := Run(sys)
	if code == exitStatus[measure.KindPermission] {
		t.Skip("this user may not ping: " + errs.String())
	}
	if code != 130 || !strings.HasPrefix(lastLine(out.String()), "rtt min/avg/max/mdev = ") || strings.Contains(out.String(), "\nresult") {
		t.Errorf("status %d, %s\n%s", code, errs, out)
	}
}

func TestASecondInterruptEndsTheProcessOnlyAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupts := make(chan os.Signal, 2)
		var abrupt atomic.Bool
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := endOnInterrupt(&System{Interrupts: interrupts, EndOnSignal: func() { abrupt.Store(true) }}, cancel)
		defer stop()
		interrupts <- os.Interrupt
		<-ctx.Done()
		interrupts <- os.Interrupt
		time.Sleep(impatience - time.Millisecond)
		if synctest.Wait(); abrupt.Load() {
			t.Error("Ctrl-C pressed twice ends the process before it has removed what it made")
		}
		time.Sleep(time.Millisecond)
		if synctest.Wait(); !abrupt.Load() {
			t.Error("a command that does not end cannot be ended")
		}
	})
}
