// Package program runs the built program as users do, two processes over loopback, on every
// system that runs Go tests.
package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/built"
	"soku/test/tier"
)

func TestMain(m *testing.M) { built.Main(m) }

// serve starts a server and returns where it listens.
func serve(t *testing.T, soku string) string {
	t.Helper()
	at, _ := serving(t, soku)
	return at
}

// serving is serve with more options, and returns the server's process too.
func serving(t *testing.T, soku string, args ...string) (at string, server *os.Process) {
	t.Helper()
	command := exec.Command(soku, append([]string{"server", "--listen", "127.0.0.1:0"}, args...)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "listening on "); ok {
			at, _, _ := strings.Cut(rest, " ")
			return at, command.Process
		}
	}
	t.Fatalf("the server ended without listening: %v", lines.Err())
	return "", nil
}

// client runs the program until it ends and returns its output.
func client(t *testing.T, soku string, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, soku, args...)
	c.Stdout, c.Stderr = &out, &errs
	c.Env = append(os.Environ(), "SOKU_DATA="+t.TempDir())
	err := c.Run()
	if err != nil {
		t.Logf("soku %s: %s", strings.Join(args, " "), errs.String())
	}
	return out.Bytes(), err
}

func TestTheProgramMeasuresOverLoopback(t *testing.T) {
	tier.SpendsSeconds(t)
	soku := built.Program(t)
	at := serve(t, soku)
	const shortest = 1000 // ns, less than waking another process takes
	for name, args := range map[string][]string{
		"tcp":               {"tcp"},
		"tcp in reverse":    {"tcp", "-R", "-P", "2"},
		"udp":               {"udp", "-b", "20M"},
		"udp in reverse":    {"udp", "-b", "20M", "-R"},
		"latency":           {"latency"},
		"latency over udp":  {"latency", "--protocol", "udp"},
		"latency at a rate": {"latency", "--request-rate", "200"},
		"connect":           {"connect"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := client(t, soku, append(args, at, "--duration", "400ms", "--json")...)
			if err != nil {
				t.Fatal(err)
			}
			var r measure.Result
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatalf("no result: %v\n%s", err, out)
			}
			switch s := r.Summary; {
			case r.Error != nil:
				t.Errorf("the result holds the error %v", r.Error)
			case args[0] == "tcp" || args[0] == "udp":
				if s.GoodputBps <= 0 || s.ReceivedBytes <= 0 {
					t.Errorf("%v bit/s of %v bytes", s.GoodputBps, s.ReceivedBytes)
				}
			case s.RTT == nil || s.RTT.Count == 0:
				t.Error("no round trips")
			case s.RTT.Min < shortest:
				t.Errorf("a round trip took %v ns: the clock is too coarse", s.RTT.Min)
			case args[0] == "connect" && (s.ConnectionsPerSecond <= 0 || r.Connect == nil || r.Connect.Accepted == nil || *r.Connect.Accepted < r.Connect.Opened):
				t.Errorf("%v connections a second of %+v", s.ConnectionsPerSecond, r.Connect)
			}
		})
	}
}

func TestAConnectionRefusedIsReported(t *testing.T) {
	tier.SpendsSeconds(t)
	_, err := client(t, built.Program(t), "tcp", "127.0.0.1:1", "--connect-timeout", "20s", "--json")
	const unreachable = 4 // docs/reference/exit-codes.md
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != unreachable {
		t.Errorf("ended with %v", err)
	}
}
