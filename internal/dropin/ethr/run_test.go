package ethr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/freeport"
	"soku/test/tier"
)

// screen is the output of a run, and its log.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) Close() error { return nil }

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// run runs a command line and returns what it printed and logged.
func run(ctx context.Context, out *screen, line string) (status int, log *screen) {
	log = &screen{}
	env := Environment{Stdout: out, Now: time.Now, Version: "test", Append: func(string) (io.WriteCloser, error) { return log, nil }}
	return Run(ctx, env, words(line)), log
}

// serving runs a server until the test ends and returns its port and screen.
func serving(t *testing.T, more string) (port int, out *screen, ended chan int) {
	t.Helper()
	port = freeport.One(t)
	ctx, stop := context.WithCancelCause(context.Background())
	out, ended = &screen{}, make(chan int, 1)
	go func() {
		status, _ := run(ctx, out, fmt.Sprintf("-s -ip 127.0.0.1 -port %d %s", port, more))
		ended <- status
		close(ended)
	}()
	t.Cleanup(func() { stop(measure.TextError(measure.KindInterrupted, "interrupted", "")); <-ended })
	shows(t, out, "Listening on port")
	return port, out, ended
}

// shows waits until a screen has a line.
func shows(t *testing.T, out *screen, pattern string) {
	t.Helper()
	line := regexp.MustCompile("(?m)" + pattern)
	deadline := time.Now().Add(10 * time.Second)
	for !line.MatchString(out.String()) {
		if time.Now().After(deadline) {
			t.Fatalf("no line is %s:\n%s", pattern, out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestEveryTestPrintsAndLogsItsTable(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	const number = `[0-9.]+[KMGT]?`
	for line, want := range map[string]struct{ client, server, log []string }{
		"-d 2s": {
			[]string{`^\[ +\d+\] local 127.0.0.1 port \d+ connected to 127.0.0.1 port \d+$`, `^\[  ID \]   Protocol    Interval      Bits/s$`,
				`^\[ +\d+\]     TCP      000-001 sec   +` + number + `$`, `^Ethr done, duration: 2s\.$`},
			[]string{`^\[    127.0.0.1\]    TCP  +` + number + ` +0     --        --  $`},
			[]string{`"Type":"TestResult","RemoteAddr":"127.0.0.1","Protocol":"TCP","BitsPerSecond":"` + number + `","ConnectionsPerSecond":""`},
		},
		"-d 2s -n 2 -r -b 8M -T wan": {
			[]string{`^\[  SUM\]     TCP      000-001 sec   +` + number + `$`},
			nil,
			[]string{`"Title":"wan","Type":"TestResult"`},
		},
		"-d 2s -p udp -b 800K -l 1KB": {
			[]string{`^\[  ID \]   Protocol    Interval      Bits/s    Pkts/s$`, `^\[ +\d+\]     UDP      000-001 sec   +` + number + `   +` + number + `$`},
			[]string{`^\[    127.0.0.1\]    UDP  +` + number + `     --    +` + number + `      --  $`},
			[]string{`"Protocol":"UDP","BitsPerSecond":"` + number + `","ConnectionsPerSecond":"","PacketsPerSecond":"` + number + `"`},
		},
		"-d 2s -p udp -t p -b 800": {
			[]string{`^  UDP      000-001 sec   +` + number + `   +` + number + `$`}, nil, nil,
		},
		"-d 300ms -t l -i 20 -g 50ms": {
			[]string{`^Running latency test: 20, 1$`, `^      Avg       Min       50%       90%       95%       99%     99.9%    99.99%       Max$`,
				`^( *[0-9.]+[mun]?s){9}$`},
			[]string{`^\[    127.0.0.1\]    TCP  +0 +1     --    +[0-9.]+[mun]?s$`},
			[]string{`"Type":"LatencyResult","RemoteAddr":"127.0.0.1","Protocol":"TCP","Avg":"[0-9.]+[mun]?s"`},
		},
		"-d 1200ms -t c": {
			[]string{`^Protocol    Interval      Conn/s$`, `^  TCP      000-001 sec   +` + number + `$`},
			[]string{`^\[    127.0.0.1\]    TCP  +0 +` + number + `     --        --  $`}, nil,
		},
		"-d 300ms -t pi": {
			[]string{`^  Sent = 1, Received = 1, Lost = 0$`}, nil, nil,
		},
		"-d 300ms -t pi -g 50ms": {
			[]string{`^\[tcp\] \[warmup\] Connection from \[127.0.0.1\]:\d+ to \[127.0.0.1\]:\d+: [0-9.]+[mun]?s$`, `^  Sent = \d+, Received = \d+, Lost = 0$`},
			nil,
			[]string{`"Type":"INFO","Message":"  Sent = `},
		},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			port, server, _ := serving(t, "-no")
			out := &screen{}
			status, log := run(t.Context(), out, fmt.Sprintf("-c 127.0.0.1 -port %d %s", port, line))
			if status != 0 {
				t.Fatalf("status %d:\n%s", status, out)
			}
			for _, p := range want.client {
				if !regexp.MustCompile("(?m)" + p).MatchString(out.String()) {
					t.Errorf("the client has no line %s:\n%s", p, out)
				}
			}
			for _, p := range want.server {
				shows(t, server, p)
			}
			for _, p := range want.log {
				if !regexp.MustCompile(p).MatchString(log.String()) {
					t.Errorf("the log has no %s:\n%s", p, log)
				}
			}
			for _, l := range strings.Split(strings.TrimSpace(log.String()), "\n") {
				var m map[string]string
				if err := json.Unmarshal([]byte(l), &m); err != nil || m["Time"] == "" || m["Type"] == "" {
					t.Errorf("a line of the log is %s", l)
				}
			}
		})
	}
}

func TestAOneOffServerExitsAfterItsTest(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port, _, ended := serving(t, "-no -1")
	out := &screen{}
	if status, _ := run(t.Context(), out, fmt.Sprintf("-c 127.0.0.1 -port %d -d 200ms -no", port)); status != 0 {
		t.Fatal(out)
	}
	select {
	case status := <-ended:
		if status != 0 {
			t.Errorf("status %d", status)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

func TestAnInterruptEndsATestCleanly(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port, _, _ := serving(t, "-no")
	ctx, stop := context.WithCancelCause(t.Context())
	out := &screen{}
	go func() {
		defer stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
		deadline := time.Now().Add(10 * time.Second)
		for !strings.Contains(out.String(), "000-001") && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if status, _ := run(ctx, out, fmt.Sprintf("-c 127.0.0.1 -port %d -d 0 -no", port)); status != 0 || !strings.Contains(out.String(), "received interrupt signal") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

func TestFailuresAreReportedWithAnExitStatus(t *testing.T) {
	for line, says := range map[string]string{
		fmt.Sprintf("-c 127.0.0.1 -port %d", freeport.One(t)): "refused",
		"-c h -ui":                "-ui",
		"-c no-such-host.invalid": "find the address",
	} {
		out := &screen{}
		if status, _ := run(t.Context(), out, line); status != 1 || !strings.Contains(out.String(), says) {
			t.Errorf("%s: status %d:\n%s", line, status, out)
		}
	}
}

func TestTheTableIsEthrs(t *testing.T) {
	var b strings.Builder
	p := measure.Percentiles{Mean: 59288, Min: 50665, P50: 53282, P90: 63720, P95: 85739, P99: 85739, P999: 85739, P9999: 85739, Max: 113029}
	if err := WriteTable(&b, []measure.Percentiles{p}); err != nil {
		t.Fatal(err)
	}
	const want = ` 59.288us  50.665us  53.282us  63.720us  85.739us  85.739us  85.739us  85.739us 113.029us`
	if !strings.HasSuffix(b.String(), "Max\n"+want+"\n") {
		t.Errorf("%s", b.String())
	}
}
