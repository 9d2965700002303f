package iperf3

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/internal/process"
	"soku/test/tier"
)

// ourServer is a soku iperf3 server in this process until it or the test ends.
type ourServer struct {
	port      string
	out, errs safeBuffer
	stop      context.CancelFunc
	ended     chan int
}

func startOurs(t testing.TB, args ...string) *ourServer {
	t.Helper()
	s := &ourServer{port: freePort(t), ended: make(chan int, 1)}
	ctx, stop := context.WithTimeout(context.Background(), 40*time.Second)
	ctx, signalled := context.WithCancelCause(ctx)
	s.stop = func() { signalled(process.Signalled{Signal: syscall.SIGTERM}); stop() }
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- Run(ctx, environment(&s.out, &s.errs), append([]string{"-s", "-p", s.port}, args...))
	}()
	t.Cleanup(func() { s.stop(); <-done })
	listening(t, s.port)
	return s
}

// result waits until the server has ended.
func (s *ourServer) result(t testing.TB) output {
	t.Helper()
	select {
	case code := <-s.ended:
		return output{s.out.String(), s.errs.String(), code}
	case <-time.After(20 * time.Second):
		t.Fatalf("the server does not end: %s%s", s.out.String(), s.errs.String())
	}
	return output{}
}

func TestAServersDocumentsHaveTheShapeOfIperf3s(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			first, want := realSession(t, "-J", mode)
			s := startOurs(t, "-1", "-J", "-i", "0.5")
			second := execute(t, program, append([]string{"-J", "-c", loopback(mode), "-p", s.port}, words(mode)...)...)
			got := s.result(t)
			if second.code != 0 || got.code != 0 || got.stderr != "" {
				t.Fatalf("status %d and %d: %s%s %s", second.code, got.code, second.stdout, second.stderr, got.stderr)
			}
			doc := parsed(t, got.stdout)
			sameShape(t, parsed(t, want.stdout), doc)
			sameShape(t, parsed(t, first.stdout), parsed(t, second.stdout)) // the part that the real client has
			if numeric(doc, "end", "sum_sent", "bytes")+numeric(doc, "end", "sum_received", "bytes") == 0 {
				t.Errorf("nothing was moved: %v", value(doc, "end"))
			}
		})
	}
}

func TestAServerPrintsWhatIperf3Prints(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	for _, mode := range []string{"", "-R", "--bidir", "-P 2", "-P 2 --bidir", "-O 1", "-u", "-u -R", "-u -P 2"} {
		for _, verbose := range []bool{false, true} {
			name, option := mode, ""
			if verbose {
				name, option = mode+" verbose", "-V"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, want := realSession(t, option, mode)
				s := startOurs(t, append(strings.Fields(option), "-i", "0.5", "-1")...)
				execute(t, program, append([]string{"-c", "127.0.0.1", "-p", s.port}, words(mode)...)...)
				got := s.result(t)
				if a, b := common(want.stdout), common(got.stdout); a != b {
					t.Errorf("iperf3 prints\n%s\nand soku\n%s", a, b)
				}
			})
		}
	}
}

func TestClientAndServerOfSokuIperf3MeasureTogether(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, mode := range []string{"", "-R", "--bidir -P 2", "-u", "-u -R -b 20M", "-u --bidir --get-server-output", "-n 4M -P 2", "--get-server-output -V", "-Z --skip-rx-copy", "-u --gsro -b 100M", "-m", "-m --bidir -P 2", "-m -R -Z"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startOurs(t, "-1", "-J", "-i", "0.5")
			args := append([]string{"-c", "127.0.0.1", "-p", s.port, "-J"}, words(mode)...)
			out := ours(t, args...)
			got := s.result(t)
			if out.code != 0 || got.code != 0 {
				t.Fatalf("status %d and %d: %s %s %s", out.code, got.code, out.stderr, out.stdout, got.stdout)
			}
			doc := parsed(t, out.stdout)
			plausible(t, doc)
			if asked := strings.Contains(mode, "get-server"); asked != (value(doc, "server_output_json", "start") != nil) {
				t.Errorf("the server's document: %v", value(doc, "server_output_json"))
			}
		})
	}
}

func TestAServerAcceptsOneTestAfterAnother(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t)
	for range 2 {
		if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-n", "1M"); out.code != 0 {
			t.Fatal(out.stderr)
		}
	}
	awaited(t, &s.out, "(test #3)")
	s.stop()
	got := s.result(t)
	if got.code != 0 || strings.Count(got.stdout, "Accepted connection") != 2 || !strings.Contains(got.stderr, "interrupt - the server has terminated") {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestAServerHasOneClientAtATime(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t, "-i", "0.1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int)
	go func() {
		done <- Run(ctx, environment(io.Discard, io.Discard), []string{"-c", "127.0.0.1", "-p", s.port, "-t", "20"})
	}()
	awaited(t, &s.out, "sec")
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port); out.code != 1 || !strings.Contains(out.stderr, "the server is busy") {
		t.Errorf("status %d, %s", out.code, out.stderr)
	}
	stop()
	<-done
	awaited(t, &s.errs, "iperf3: the client has terminated")
	awaited(t, &s.out, "receiver")
	awaited(t, &s.out, "(test #2)")
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-n", "1M"); out.code != 0 {
		t.Errorf("after it: %s", out.stderr)
	}
}

func TestAStoppedServerReportsIt(t *testing.T) {
	t.Parallel()
	s := startOurs(t)
	var out, errs safeBuffer
	done := make(chan int)
	go func() {
		done <- Run(t.Context(), environment(&out, &errs), []string{"-c", "127.0.0.1", "-p", s.port, "-t", "20", "-i", "0.1"})
	}()
	awaited(t, &out, "sec")
	s.stop()
	if code := <-done; code != 1 || errs.String() != "iperf3: error - the server has terminated\n" || !strings.Contains(out.String(), "sender") {
		t.Errorf("status %d, %s%s", code, errs.String(), out.String())
	}
	if got := s.result(t); got.code != 0 || !strings.Contains(got.stdout, "receiver") || got.stderr != "iperf3: interrupt - the server has terminated by signal Terminated(15)\n" {
		t.Errorf("%+v", got)
	}
}

func TestAServersLimits(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t, "-1", "--server-bitrate-limit", "1M")
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-b", "10M"); out.code != 1 || !strings.Contains(out.stderr, "bandwidth") {
		t.Errorf("status %d, %s", out.code, out.stderr)
	}
	if got := s.result(t); got.code != 0 || got.stderr != "iperf3: error - total required bandwidth is larger than server limit\n" {
		t.Errorf("%+v", got)
	}
	s = startOurs(t, "-1", "--server-max-duration", "5")
	const tooLong = "iperf3: error - client's requested duration exceeds the server's maximum permitted limit\n"
	if out := ours(t, "-c", "127.0.0.1", "-p", s.port, "-t", "6"); out.code != 1 || out.stderr != tooLong {
		t.Errorf("status %d, %s", out.code, out.stderr)
	}
	if got := s.result(t); got.stderr != tooLong {
		t.Errorf("%+v", got)
	}
	s = startOurs(t, "-1", "--idle-timeout", "1")
	if got := s.result(t); got.code != 0 {
		t.Errorf("%+v", got)
	}
	s = startOurs(t)
	if out := ours(t, "-s", "-p", s.port); out.code != 1 || !strings.Contains(out.stderr, "unable to start listener for connections: Address already in use") {
		t.Errorf("%+v", out)
	}
}

func TestAReceivingServerHasTheCongestionControlOfTheTest(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t, "-1")
	out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-n", "1M", "-C", "reno", "-J")
	if got := wording(parsed(t, out.stdout), "end", "receiver_tcp_congestion"); got != "reno" {
		t.Errorf("the server received with %q: %s", got, out.stdout)
	}
}

func TestAServerAppliesAffinityAndBindDev(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	s := startOurs(t, "-1", "-A", "0", "--bind-dev", "lo")
	for _, args := range []string{"-n 1M", "-n 1M -R -A 0,0"} {
		if out := execute(t, program, append([]string{"-c", "127.0.0.1", "-p", s.port}, strings.Fields(args)...)...); out.code != 0 {
			t.Errorf("%s: %s%s", args, out.stdout, out.stderr)
		}
		if got := s.result(t); got.code != 0 {
			t.Errorf("%+v", got)
		}
		s = startOurs(t, "-1", "-B", "127.0.0.1%lo")
	}
	for args, want := range map[string]string{
		"-A 1024": "unable to set CPU affinity", "--bind-dev nosuch": "this host has no such interface",
	} {
		out := ours(t, append([]string{"-s", "-p", freePort(t)}, strings.Fields(args)...)...)
		if out.code != 1 || !strings.Contains(out.stderr, want) {
			t.Errorf("%s: status %d, %s", args, out.code, out.stderr)
		}
	}
}
