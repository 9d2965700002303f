//go:build unix

package agent

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// A program that reports nothing is ended after a time, with what it started, also where it ends
// by itself when its input does.
func TestAChildThatReportsNothingIsEndedWithItsGroup(t *testing.T) {
	for _, text := range []string{"sleep 3600 <&- >/dev/null 2>&1 & cat >/dev/null", "sleep 3600 & sleep 3600"} {
		open, held, err := os.Pipe() // held until all processes have ended
		if err != nil {
			t.Fatal(err)
		}
		p := Process{Now: time.Now, mute: 300 * time.Millisecond, Command: func(ctx context.Context) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, "sh", "-c", text)
			cmd.ExtraFiles = []*os.File{held}
			return cmd, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		r := p.Run(ctx, Spec{Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP)}, Hooks{})
		if ctx.Err() != nil || r.Error == nil || r.Error.Code != "agent.process.overtime" {
			t.Errorf("%s: %v, error is %v", text, ctx.Err(), r.Error)
		}
		cancel()
		_ = held.Close()
		_ = open.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := open.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%s: processes are left: %v", text, err)
		}
		_ = open.Close()
	}
}

// A child that has read the spec may wait for other clients of the server for long.
func TestAChildThatHasReadTheSpecMayWaitForLong(t *testing.T) {
	r := newReportReader(1 << 20)
	var within []time.Duration
	r.within = func(d time.Duration) { within = append(within, d) }
	for range 2 {
		if _, err := r.Write([]byte(`{"accepted":true}` + "\n")); err != nil || r.strayLines > 0 {
			t.Fatal(err, r.strayLines)
		}
	}
	if len(within) != 1 || within[0] != longestWait {
		t.Errorf("times are %v", within)
	}
}

// Without that, a child that waits for its turn would be ended as one that reports nothing.
func TestAChildIsAskedToReportThatItHasReadTheSpec(t *testing.T) {
	p := Process{Now: time.Now, Command: func(ctx context.Context) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "sh", "-c", `read -r spec; echo "${spec##*,}" >&2; exit 1`), nil
	}}
	r := p.Run(t.Context(), Spec{Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP)}, Hooks{})
	if r.Error == nil || !strings.Contains(r.Error.Message, `"acknowledge":true}`) {
		t.Errorf("the spec ends with %v", r.Error)
	}
}
