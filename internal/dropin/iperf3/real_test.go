package iperf3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/test/freeport"
	"soku/test/tier"
)

// modes are the tests that both programs run, with -t 1 -i 0.5 unless given.
func modes() []string {
	all := []string{
		"", "-R", "--bidir", "-P 2", "-P 2 -R", "-P 2 --bidir", "-O 1", "-n 10M", "-k 80", "-n 10M -O 1", "-Z -b 50M", "--repeating-payload", "-b 10M", "-l 8K", "-w 64K",
		"-M 1000", "-N", "-S 32", "-6", "-C reno", "-Z", "-T name", "--extra-data more", "-i 0", "--get-server-output",
		"-u", "-u -R", "-u --bidir", "-u -P 2", "-u -P 2 --bidir", "-u -O 1", "-u -n 100K", "-u -b 2M/20", "-u -k 5", "-u -n 100K -O 1", "-u -Z", "-u -b 5M -l 500",
		"-6 -L 0x1234", "-6 -R -L 4660", "-u -6 -L 7", "-u --dont-fragment -l 1000", "-u -R --dont-fragment",
		"-u --udp-counters-64bit", "-u --get-server-output",
	}
	if knowsMultipath() {
		all = append(all, "-m", "-m -R", "-m --bidir", "-m -P 2 -Z")
	}
	return all
}

// knowsMultipath reports whether the installed iperf3 has Multipath TCP, as versions from
// 3.19 on do.
var knowsMultipath = sync.OnceValue(func() bool {
	help, _ := exec.Command("iperf3", "--help").CombinedOutput()
	return bytes.Contains(help, []byte("--mptcp"))
})

// words is the command line of a mode. TCP has a rate, so that many tests can run in
// parallel.
func words(mode string) []string {
	all := []string{"-i", "0.5"}
	if !strings.Contains(mode, "-n ") && !strings.Contains(mode, "-k ") {
		all = append(all, "-t", "1")
	}
	if !strings.Contains(mode, "-u") && !strings.Contains(mode, "-b ") && !strings.Contains(mode, "-Z") {
		all = append(all, "-b", "100M")
	}
	return append(all, strings.Fields(mode)...)
}

func loopback(mode string) string {
	if strings.Contains(mode, "-6") {
		return "::1"
	}
	return "127.0.0.1"
}

// output is what a program printed.
type output struct {
	stdout, stderr string
	code           int
}

// realProgram is the iperf3 that tests compare with. Its tests take a second at least.
func realProgram(t testing.TB) string {
	t.Helper()
	tier.SpendsSeconds(t)
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: apt-get install iperf3")
	}
	return path
}

// execute runs a program for at most 30 s.
func execute(t testing.TB, name string, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return output{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// freePort is an unused port.
func freePort(t testing.TB) string {
	t.Helper()
	return strconv.Itoa(freeport.One(t))
}

// realServer starts a real server for one test and returns its port and a function that
// waits for its output.
func realServer(t testing.TB, args ...string) (port string, ended func() output) {
	t.Helper()
	program := realProgram(t)
	port = freePort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, append([]string{"-s", "-1", "-p", port}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	listening(t, port)
	return port, func() output {
		<-done
		return output{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
}

// session is one test of a real client with a real server, and what both print.
type session struct {
	mu             sync.Mutex
	done           bool
	client, server output
}

// sessions are those run so far, by option and mode.
var sessions sync.Map

// realSession is the output of a real client and a real server in one test of that mode,
// each with the option "-J", "-V" or none. Tests share sessions, because each takes a
// second of real time.
func realSession(t testing.TB, option, mode string) (client, server output) {
	t.Helper()
	program := realProgram(t)
	entry, _ := sessions.LoadOrStore(option+" "+mode, &session{})
	s := entry.(*session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		port, ended := realServer(t, append(strings.Fields(option), "-i", "0.5")...)
		s.client = execute(t, program, slices.Concat(strings.Fields(option), []string{"-c", loopback(mode), "-p", port}, words(mode))...)
		s.server = ended()
		s.done = true
	}
	return s.client, s.server
}

// listening waits until a process listens on the TCP port, without connecting: an iperf3
// server would take the connection for its client.
func listening(t testing.TB, port string) {
	t.Helper()
	number, _ := strconv.Atoi(port)
	entry := fmt.Sprintf(":%04X 00000000:0000 0A", number)
	entry6 := fmt.Sprintf(":%04X 00000000000000000000000000000000:0000 0A", number)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Skip("the system does not report who listens: " + err.Error())
			}
			if strings.Contains(string(b), entry) || strings.Contains(string(b), entry6) {
				return
			}
		}
	}
	t.Fatalf("nobody listens on port %s", port)
}

// value is the value at a path of a document, or nil.
func value(doc any, path ...string) any {
	for _, key := range path {
		m, _ := doc.(map[string]any)
		doc = m[key]
	}
	return doc
}

func numeric(doc any, path ...string) float64 { f, _ := value(doc, path...).(float64); return f }

func integral(doc any, path ...string) int64 { return int64(numeric(doc, path...)) }

func wording(doc any, path ...string) string { s, _ := value(doc, path...).(string); return s }

func truth(doc any, path ...string) bool { b, _ := value(doc, path...).(bool); return b }

func items(doc any, path ...string) []any { a, _ := value(doc, path...).([]any); return a }

func parsed(t testing.TB, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return doc
}

// flat is every path of a document with its value; elements of arrays are [0], [1]...
func flat(doc any) map[string]any {
	all := map[string]any{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			all[path] = "{}"
			for key, x := range v {
				walk(path+"."+key, x)
			}
		case []any:
			all[path] = "[]"
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), x)
			}
		default:
			all[path] = v
		}
	}
	walk("", doc)
	return all
}

// generic is a path without element numbers.
func generic(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		b.WriteByte(path[i])
		if path[i] == '[' {
			for path[i+1] != ']' {
				i++
			}
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// kind is the type of a JSON value.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "{}" || v == "[]" {
			return v
		}
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	}
	return "?"
}

// newerThan312 are members added after version 3.12 that soku writes.
func newerThan312(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	return slices.Contains([]string{"timemillisecs", "fq_rate", "bidir", "fqrate", "interval", "gso", "gro", "reorder"}, last)
}

// rewritten is the document that soku makes from a real one.
func rewritten(t testing.TB, doc map[string]any, role string) map[string]any {
	t.Helper()
	var b bytes.Buffer
	set := defaults()
	set.Role, set.JSON = role, true
	w := newJSON(&b, set)
	w.Begin(Program{wording(doc, "start", "version"), wording(doc, "start", "system_info")})
	s, intervals, end := happened(doc)
	w.Start(s)
	for _, iv := range intervals {
		w.Interval(iv)
	}
	w.End(end)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return parsed(t, b.String())
}

func TestDocumentsAreThoseOfIperf3(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, mode := range modes() {
		t.Run(strings.TrimSpace("client "+mode), func(t *testing.T) {
			t.Parallel()
			client, server := realSession(t, "-J", mode)
			if client.code != 0 {
				t.Fatalf("iperf3 %s: %s%s", mode, client.stdout, client.stderr)
			}
			if dir := os.Getenv("SOKU_KEEP"); dir != "" {
				_ = os.WriteFile(filepath.Join(dir, strings.ReplaceAll("m"+mode, " ", "_")+".json"), []byte(client.stdout), 0o600)
			}
			theirs := parsed(t, client.stdout)
			equalDocuments(t, theirs, rewritten(t, theirs, Client))
			theirs = parsed(t, server.stdout)
			equalDocuments(t, theirs, rewritten(t, theirs, Server))
		})
	}
}

// equalDocuments requires the same paths, types and values in both.
func equalDocuments(t *testing.T, theirs, ours map[string]any) {
	t.Helper()
	a, b := flat(theirs), flat(ours)
	for path, v := range a {
		if f, is := v.(float64); is && f > 1e18 {
			continue // 3.12 has a negative count here, at a UDP server with --omit
		}
		w, there := b[path]
		if stem, end := strings.CutSuffix(path, ".end"); end && strings.HasPrefix(path, ".intervals") && !alike(v, numberAt(a, stem+".start")+numberAt(a, stem+".seconds")) {
			continue // of an interval that spans the end of --omit, iperf3 counts the end from there and the start from the test's start
		}
		switch {
		case !there:
			t.Errorf("%s is missing: iperf3 has %v", path, v)
		case kind(v) != kind(w):
			t.Errorf("%s is %v, iperf3 has %v", path, w, v)
		case !alike(v, w):
			t.Errorf("%s: %v, iperf3 has %v", path, w, v)
		}
	}
	for path := range b {
		if _, there := a[path]; !there && !newerThan312(path) {
			t.Errorf("%s is more than iperf3 has", path)
		}
	}
}

func numberAt(flat map[string]any, path string) float64 { f, _ := flat[path].(float64); return f }

// alike allows for rounding to microseconds.
func alike(v, w any) bool {
	x, ok := v.(float64)
	y, ok2 := w.(float64)
	if !ok || !ok2 {
		return v == w
	}
	return math.Abs(x-y) <= 5e-6+1e-3*math.Abs(x)
}
