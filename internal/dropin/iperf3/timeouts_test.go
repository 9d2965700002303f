package iperf3

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"soku/internal/sock"
	"soku/test/freeport"
	"soku/test/tier"
)

// slowly is a test that sends its second block 8 s after the first.
func slowly(port string, more ...string) []string {
	return append([]string{"-c", "127.0.0.1", "-p", port, "-t", "20", "-b", "1K", "-l", "1000"}, more...)
}

func TestASilentSenderTimesOutAfterRcvTimeout(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	const sentence = "iperf3: error - idle timeout for receiving data\n"
	for _, protocol := range []string{"", "-u"} {
		t.Run("client "+protocol, func(t *testing.T) {
			t.Parallel()
			port, _ := realServer(t)
			out := ours(t, slowly(port, strings.Fields("-R --rcv-timeout 400 "+protocol)...)...)
			if out.code != 1 || out.stderr != sentence {
				t.Errorf("status %d, %q", out.code, out.stderr)
			}
		})
		t.Run("server "+protocol, func(t *testing.T) {
			t.Parallel()
			s := startOurs(t, "-1", "--rcv-timeout", "400")
			out := execute(t, program, slowly(s.port, strings.Fields(protocol)...)...)
			if got := s.result(t); got.code != 0 || got.stderr != sentence {
				t.Errorf("status %d, %q", got.code, got.stderr)
			}
			if out.code != 1 || !strings.Contains(out.stderr, "idle timeout for receiving data") {
				t.Errorf("the client: status %d, %q", out.code, out.stderr)
			}
		})
	}
}

func TestServerBitrateLimitIsAveragedOverItsInterval(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t, "-1", "-i", "0.1", "--server-bitrate-limit", "20M/0.3")
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-t", "20"); out.code != 1 || !strings.Contains(out.stderr, "bandwidth") {
		t.Errorf("status %d, %s", out.code, out.stderr)
	}
	if got := s.result(t); !strings.Contains(got.stderr, "iperf3: error - ") || strings.Count(got.stdout, "sec") > 40 {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	s = startOurs(t, "-1", "-i", "0.1", "--server-bitrate-limit", "1M/0") // only a requested rate is checked
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-n", "50M"); out.code != 0 {
		t.Errorf("without an average: status %d, %s", out.code, out.stderr)
	}
}

func TestStreamsUseTheRequestedLocalPorts(t *testing.T) {
	t.Parallel()
	realProgram(t)
	modes := []string{"", "-u"}
	if sock.HasFlowLabels {
		modes = append(modes, "-6 -L 7", "-u -6 -L 7", "-6 -B ::1 -L 7")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			port, _ := realServer(t)
			first := freeport.Row(t, 4)
			out := ours(t, append([]string{"-c", loopback(mode), "-p", port, "-J", "-t", "1", "-b", "1M", "-P", "2", "--bidir", "--cport", strconv.Itoa(first)}, strings.Fields(mode)...)...)
			if out.code != 0 {
				t.Fatalf("status %d, %s%s", out.code, out.stderr, out.stdout)
			}
			all := items(parsed(t, out.stdout), "start", "connected")
			if len(all) != 4 {
				t.Fatalf("%d connections", len(all))
			}
			for i, c := range all {
				if got := integral(c, "local_port"); got != int64(first+i) {
					t.Errorf("stream %d leaves from port %d, want %d", i, got, first+i)
				}
			}
		})
	}
}

func TestFQRatePacesAStreamInTheKernel(t *testing.T) {
	program := realProgram(t)
	check := func(doc map[string]any) {
		t.Helper()
		bps := numeric(doc, "end", "sum_received", "bits_per_second")
		if bps > 30e6 || bps < 1e6 || integral(doc, "start", "fq_rate") != 20_000_000 && integral(doc, "start", "test_start", "reverse") == 0 {
			t.Errorf("%.0f bit/s, want 20M: %v", bps, value(doc, "start"))
		}
	}
	port, _ := realServer(t)
	check(parsed(t, ours(t, "-c", "127.0.0.1", "-p", port, "-J", "-t", "2", "--fq-rate", "20M").stdout))
	s := startOurs(t, "-1", "-J")
	check(parsed(t, execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-J", "-t", "2", "-R", "--fq-rate", "20M").stdout))
	if doc := parsed(t, s.result(t).stdout); integral(doc, "start", "fq_rate") != 20_000_000 || integral(doc, "start", "test_start", "fqrate") != 20_000_000 {
		t.Errorf("%v", value(doc, "start"))
	}
}

func TestATestOfTimeZeroRunsUntilInterrupted(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port, _ := realServer(t)
	var out, errs safeBuffer
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, environment(&out, &errs), []string{"-c", "127.0.0.1", "-p", port, "-t", "0", "-b", "10M", "-i", "0.1", "-V"})
	}()
	awaited(t, &out, "0 second test")
	awaited(t, &out, "]   1.") // an interval that begins in the second second
	stop()
	if c := <-code; c != 0 || !strings.Contains(errs.String(), "interrupt - the client has terminated") {
		t.Errorf("status %d, %s", c, errs.String())
	}
}
