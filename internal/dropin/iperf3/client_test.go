package iperf3

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/test/tier"
)

// safeBuffer is a buffer for concurrent writing and reading.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// ours runs soku iperf3 in this process for at most 30 s.
func ours(t testing.TB, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return oursUntil(ctx, args...)
}

func oursUntil(ctx context.Context, args ...string) output {
	var out, errs safeBuffer
	code := Run(ctx, environment(&out, &errs), args)
	return output{out.String(), errs.String(), code}
}

func environment(out, errs io.Writer) Environment {
	return Environment{
		Stdout: out, Stderr: errs, Now: time.Now, Version: "test", System: "Linux test", PID: os.Getpid(),
		ReadPassword: func() (string, error) { return "", os.ErrInvalid }, Getenv: func(string) string { return "" }, ReadFile: os.ReadFile, Remove: os.Remove,
		Open:   func(file string) (fs.File, error) { return os.Open(file) },
		Stat:   os.Stat,
		Create: func(file string) (io.WriteCloser, error) { return os.Create(file) },
		Append: func(file string) (io.WriteCloser, error) {
			return os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		},
		WriteFile: func(file string, b []byte) error { return os.WriteFile(file, b, 0o600) },
	}
}

// shape has every path of a document, without element numbers, with the types found
// there.
func shape(doc any) map[string]string {
	all := map[string]string{}
	for path, v := range flat(doc) {
		p, k := generic(path), kind(v)
		if old := all[p]; old != "" && old != k && !strings.Contains(old, k) {
			k = old + "," + k
		}
		all[p] = k
	}
	return all
}

// sameShape requires every member of iperf3 with the same types, and no others than
// those of newer versions.
func sameShape(t *testing.T, theirs, ours any) {
	t.Helper()
	a, b := shape(theirs), shape(ours)
	// Members from the other end are not compared, nor intervals if either has none.
	none := a["intervals[]"] == "" || b["intervals[]"] == ""
	left := func(path string) bool {
		return strings.HasPrefix(path, "server_output_json.") || none && strings.HasPrefix(path, "intervals[]")
	}
	for path, k := range a {
		if left(path) {
			continue
		}
		if b[path] != k {
			t.Errorf("%s is %q, iperf3 has %q", path, b[path], k)
		}
	}
	for path := range b {
		if a[path] == "" && !newerThan312(path) && !left(path) {
			t.Errorf("%s is more than iperf3 has", path)
		}
	}
}

func TestAClientsDocumentsHaveTheShapeOfIperf3s(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			theirs, _ := realSession(t, "-J", mode)
			port, _ := realServer(t, "-J", "-i", "0.5")
			mine := ours(t, append([]string{"-J", "-c", loopback(mode), "-p", port}, words(mode)...)...)
			if mine.code != 0 || mine.stderr != "" {
				t.Fatalf("status %d, %s%s", mine.code, mine.stderr, mine.stdout)
			}
			a, b := parsed(t, theirs.stdout), parsed(t, mine.stdout)
			sameShape(t, a, b)
			sameTest(t, a, b)
			plausible(t, b)
		})
	}
}

// sameTest requires that both documents have the same test parameters.
func sameTest(t *testing.T, theirs, ours any) {
	t.Helper()
	a, b := flat(value(theirs, "start", "test_start")), flat(value(ours, "start", "test_start"))
	for path, v := range a {
		if path != ".blksize" && b[path] != v { // of UDP it follows the segment, which varies on loopback
			t.Errorf("test_start%s is %v, iperf3 has %v", path, b[path], v)
		}
	}
	if n, m := len(items(theirs, "start", "connected")), len(items(ours, "start", "connected")); n != m {
		t.Errorf("%d connections, iperf3 has %d", m, n)
	}
}

// plausible requires consistent figures.
func plausible(t *testing.T, doc any) {
	t.Helper()
	if numeric(doc, "end", "sum_sent", "bytes") == 0 || numeric(doc, "end", "sum_received", "bytes") == 0 {
		t.Errorf("nothing was moved: %v", value(doc, "end"))
	}
	sent, got := numeric(doc, "end", "sum_sent", "bytes"), numeric(doc, "end", "sum_received", "bytes")
	if got > 1.1*sent+3e6 {
		t.Errorf("%.0f bytes received of %.0f", got, sent)
	}
	var bytes float64
	for _, iv := range items(doc, "intervals") {
		if s := value(iv, "sum"); !truth(s, "omitted") {
			bytes += numeric(s, "bytes")
		}
	}
	own := "sum_sent"
	if integral(doc, "start", "test_start", "reverse") == 1 {
		own = "sum_received"
	}
	if all := numeric(doc, "end", own, "bytes"); bytes > 1.01*all || bytes < 0.99*all-1e6 {
		t.Errorf("intervals have %.0f bytes, the whole %.0f", bytes, all)
	}
}

func TestAClientPrintsWhatIperf3Prints(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, mode := range []string{
		"", "-R", "--bidir", "-P 2", "-P 2 --bidir", "-O 1", "-n 15M", "-k 120", "-i 0", "-T name", "-f M", "-V", "-V -P 2 -R",
		"-V -u", "-u -R", "-u --bidir -P 2", "--get-server-output",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			option, mode := verbosity(mode)
			theirs, _ := realSession(t, option, mode)
			port, _ := realServer(t, append(strings.Fields(option), "-i", "0.5")...)
			mine := ours(t, slices.Concat(strings.Fields(option), []string{"-c", "127.0.0.1", "-p", port}, words(mode))...)
			if theirs.code != 0 || mine.code != 0 {
				t.Fatalf("status %d and %d: %s %s", theirs.code, mine.code, theirs.stderr, mine.stderr)
			}
			want, got := common(theirs.stdout), common(mine.stdout)
			if want != got {
				t.Errorf("iperf3 prints\n%s\nand soku\n%s", want, got)
			}
		})
	}
}

// verbosity takes -V out of a mode.
func verbosity(mode string) (option, rest string) {
	rest, verbose := strings.CutPrefix(mode, "-V")
	if !verbose {
		return "", mode
	}
	return "-V", strings.TrimSpace(rest)
}

// common is the form of a text without the program and its host.
func common(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		first, _, _ := strings.Cut(line, " ")
		if !slices.Contains([]string{"iperf", "Linux"}, first) || strings.HasPrefix(line, "iperf Done") {
			b.WriteString(line)
		}
	}
	return distinct(form(b.String()))
}

func TestAStreamOfEventsIsJSONLineByLine(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, full := range []bool{false, true} {
		port, _ := realServer(t)
		args := []string{"-c", "127.0.0.1", "-p", port, "-t", "1", "-i", "0.5", "--json-stream"}
		if full {
			args = append(args, "--json-stream-full-output")
		}
		out := ours(t, args...)
		var events []string
		d := json.NewDecoder(strings.NewReader(out.stdout))
		for {
			var e map[string]any
			if err := d.Decode(&e); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in %q", err, out.stdout)
			}
			if value(e, "event") == nil { // the whole document
				plausible(t, e)
				events = append(events, "whole")
				continue
			}
			events = append(events, wording(e, "event"))
			if _, ok := value(e, "data").(map[string]any); !ok {
				t.Errorf("event without data: %v", e)
			}
		}
		events = slices.Compact(events) // the number of intervals varies
		want := []string{"start", "interval", "end"}
		if full {
			want = append(want, "whole")
		}
		if !slices.Equal(events, want) || out.code != 0 {
			t.Errorf("full %v: status %d, events %v, want %v", full, out.code, events, want)
		}
	}
}

func TestFailuresAreReportedAsIperf3Does(t *testing.T) {
	t.Parallel()
	realProgram(t)
	port := freePort(t)
	out := ours(t, "-c", "127.0.0.1", "-p", port)
	if want := "iperf3: error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: Connection refused\n"; out.stderr != want || out.code != 1 || out.stdout != "" {
		t.Errorf("status %d, stderr %q, stdout %q", out.code, out.stderr, out.stdout)
	}
	out = ours(t, "-c", "127.0.0.1", "-p", port, "-J")
	doc := parsed(t, out.stdout)
	if !strings.HasPrefix(wording(doc, "error"), "unable to connect") || out.code != 1 || out.stderr != "" || value(doc, "intervals") == nil || value(doc, "end") == nil {
		t.Errorf("status %d, %v", out.code, doc)
	}
	theirs := parsed(t, execute(t, realProgram(t), "-c", "127.0.0.1", "-p", port, "-J").stdout)
	sameShape(t, theirs, doc)
	if of, own := wording(theirs, "error"), wording(doc, "error"); of[:20] != own[:20] {
		t.Errorf("the error is %q, of iperf3 %q", own, of)
	}

	busy, _ := realServer(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running safeBuffer
	done := make(chan int)
	go func() {
		done <- Run(ctx, environment(&running, io.Discard), []string{"-c", "127.0.0.1", "-p", busy, "-t", "20", "-i", "0.1"})
	}()
	awaited(t, &running, "sec")
	out = ours(t, "-c", "127.0.0.1", "-p", busy, "-t", "1")
	if want := "iperf3: error - the server is busy running a test. try again later\n"; out.stderr != want || out.code != 1 {
		t.Errorf("status %d, stderr %q", out.code, out.stderr)
	}
	stop()
	<-done
}

// awaited waits until the output contains these words.
func awaited(t testing.TB, b *safeBuffer, words string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(b.String(), words); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q was not printed: %s", words, b)
		}
	}
}

func TestAnInterruptedClientPrintsItsFigures(t *testing.T) {
	t.Parallel()
	port, _ := realServer(t)
	ctx, stop := context.WithCancel(t.Context())
	var out, errs safeBuffer
	done := make(chan int)
	go func() {
		done <- Run(ctx, environment(&out, &errs), []string{"-c", "127.0.0.1", "-p", port, "-t", "20", "-i", "0.1"})
	}()
	awaited(t, &out, "sec")
	stop()
	if code := <-done; code != 0 {
		t.Errorf("status %d", code)
	}
	if !strings.Contains(errs.String(), "iperf3: interrupt - the client has terminated") || !strings.Contains(out.String(), "sender") {
		t.Errorf("%s%s", out.String(), errs.String())
	}
	if strings.Contains(out.String(), "iperf Done") {
		t.Error("says that it is done")
	}
}

func TestFilesThatTheOptionsName(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port, _ := realServer(t)
	dir := t.TempDir()
	log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	_ = os.WriteFile(log, []byte("before\n"), 0o600)
	out := ours(t, "-c", "127.0.0.1", "-p", port, "-t", "1", "--logfile", log, "-I", pid, "--timestamps=%Y> ", "-T", "x")
	b, _ := os.ReadFile(log)
	year := fmt.Sprint(time.Now().Year())
	if out.code != 0 || out.stdout != "" || !strings.HasPrefix(string(b), "before\n"+year+"> x:  Connecting to host") || !strings.Contains(string(b), year+"> x:  iperf Done.\n") {
		t.Errorf("status %d, stdout %q, log %q", out.code, out.stdout, b)
	}
	if _, err := os.Stat(pid); !os.IsNotExist(err) {
		t.Errorf("the file with the process number is still there: %v", err)
	}
	if out := ours(t, "-c", "127.0.0.1", "--logfile", filepath.Join(dir, "no", "log")); out.code != 1 || !strings.Contains(out.stderr, "unable to open log file") {
		t.Errorf("status %d, %q", out.code, out.stderr)
	}
}
