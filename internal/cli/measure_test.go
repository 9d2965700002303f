package cli

import (
	"context"
	"encoding/json"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/store"
	"soku/internal/text"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestATestByHandMeasuresPrintsAndKeeps(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, args := range [][]string{
		{"tcp", addr, "-t", "500ms"},
		{"tcp", addr, "-t", "500ms", "-R", "-P", "4"},
		{"tcp", addr, "-t", "500ms", "--bidir", "-b", "50M"},
		{"tcp", addr, "-n", "1MB"},
		{"udp", addr, "-t", "500ms", "-b", "20M"},
		{"udp", addr, "-t", "500ms", "-R"},
		{"latency", addr, "-t", "500ms"},
		{"latency", addr, "-t", "500ms", "--protocol", "udp", "--request-rate", "200"},
	} {
		t.Run(strings.Join(args[:1], " ")+strings.Join(args[2:], " "), func(t *testing.T) {
			sys, out, errs := fakeSystem(t, append(args, "--json")...)
			if code := Run(sys); code != 0 {
				t.Fatalf("status %d: %s", code, errs)
			}
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if r.Error != nil || r.Hosts.Client == nil || r.Hosts.Server == nil || r.Summary.DurationNs == 0 || r.Summary.Confidence == "" {
				t.Errorf("incomplete result: %s", out)
			}
			if r.Test == measure.TestLatency {
				if r.Summary.RTT == nil || r.Summary.RTT.Count == 0 || r.Summary.FloorNs == nil {
					t.Errorf("no round trips or no floor: %s", out)
				}
			} else if r.Summary.GoodputBps == 0 || r.Summary.ReceivedBytes == 0 || r.Summary.SentBytes == 0 {
				t.Errorf("nothing was counted: %+v", r.Summary)
			}
			// The store has it under its identity.
			sys.Args = []string{"show", r.ID, "--json"}
			out.Reset()
			if code := Run(sys); code != 0 || !strings.Contains(out.String(), r.ID) {
				t.Errorf("show: status %d, %s %s", code, out, errs)
			}
		})
	}
}

func TestASplitRoundTripIsInTheTextAndTheDocument(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, protocol := range []string{"tcp", "udp"} {
		sys, out, errs := fakeSystem(t, "latency", addr, "-t", "200ms", "--protocol", protocol, "--stamps", "split", "--json")
		if code := Run(sys); code != 0 {
			t.Fatalf("status %d: %s", code, errs)
		}
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		var summary strings.Builder
		printSummary(text.English(), &summary, 0, &r)
		s := r.Latency.Split
		if s == nil { // other systems, and the race detector's build
			if !strings.Contains(summary.String(), "the split of round trips is unknown") {
				t.Errorf("no split, and no word of it:\n%s", summary.String())
			}
			continue
		}
		sum := s.HostSendNs.Mean + s.PathNs.Mean + s.FarHostNs.Mean + s.HostReceiveNs.Mean
		if math.Abs(sum-s.WholeNs.Mean) > 5 || s.WholeNs.Count == 0 || s.Path.Count() != s.WholeNs.Count {
			t.Errorf("the parts have a mean of %.0f together, the whole of %.0f: %+v", sum, s.WholeNs.Mean, s)
		}
		if echo, known := r.Latency.EchoTiming(); !known || !echo.StampsArrivals() {
			t.Errorf("the server: %+v", echo)
		}
		if !regexp.MustCompile(`(?m)^split +p50: host [0-9.]+ .s \+ path [0-9.]+ .s \+ far host [0-9.]+ .s \+ host [0-9.]+ .s$`).MatchString(summary.String()) {
			t.Errorf("no line of the split in:\n%s", summary.String())
		}
	}
}

func TestALoadsLatencyIsMeasuredBeforeBesideAndAfter(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, flags := range [][]string{{"-t", "400ms"}, {"-t", "400ms", "--bidir", "-P", "2"}, {"-n", "200MB", "-R"}} {
		args := append([]string{"tcp", addr, "--with-latency", "--json", "--no-save"}, flags...)
		sys, out, errs := fakeSystem(t, args...)
		if code := Run(sys); code != 0 {
			t.Fatalf("%v: status %d: %s", flags, code, errs)
		}
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		u := r.UnderLoad
		if u == nil || u.Before == nil || u.During == nil || u.After == nil {
			t.Fatalf("%v: a part is missing: %+v", flags, u)
		}
		for name, l := range map[string]*measure.Latency{"before": u.Before, "during": u.During, "after": u.After} {
			if l.Received == 0 || l.Received != l.Histogram.Count() {
				t.Errorf("%v: %s has %d replies", flags, name, l.Received)
			}
		}
		if r.Summary.IdleRTT == nil || r.Summary.LoadedRTT == nil || r.Summary.RPM == 0 || r.Summary.GoodputBps == 0 {
			t.Errorf("%v: incomplete summary %+v", flags, r.Summary)
		}
	}
}

func TestSeveralStreamsSayHowEvenlyTheyShared(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, test := range []string{"tcp", "udp"} {
		out, errs, code := soku(t, test, addr, "-t", "300ms", "-P", "4", "-b", "8M", "--no-save")
		if code != 0 || strings.Count(out, "\nfairness ") != 1 || !strings.Contains(out, "of 1 (Jain's index); streams had ") {
			t.Errorf("%s: status %d\n%s%s", test, code, out, errs)
		}
	}
	if out, _, _ := soku(t, "tcp", addr, "-t", "300ms", "--no-save"); strings.Contains(out, "fairness") {
		t.Errorf("one stream shared with nobody:\n%s", out)
	}
}

func TestLiveLinesAndSummaryForAPerson(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	out, errs, code := soku(t, "tcp", addr, "-t", "600ms", "-i", "200ms", "--no-save")
	if code != 0 || strings.Count(out, "–") < 2 || !strings.Contains(out, "counted at the receiver") || !strings.Contains(out, "confidence") || strings.Contains(out, "stored") {
		t.Errorf("status %d\n%s%s", code, out, errs)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "–") && len([]rune(line)) > 80 {
			t.Errorf("a live line of %d columns: %s", len([]rune(line)), line)
		}
	}
}

func TestJSONStreamIsOneObjectALineAndEndsWithTheResult(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	out, errs, code := soku(t, "tcp", addr, "-t", "600ms", "-i", "200ms", "--json-stream", "--no-save")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) < 3 {
		t.Fatalf("status %d, %d lines: %s", code, len(lines), errs)
	}
	for i, line := range lines {
		var event struct {
			Event    string
			Interval *measure.Progress
			Result   *measure.Result
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if last := i == len(lines)-1; last != (event.Event == "result") || last != (event.Result != nil) || last == (event.Interval != nil) {
			t.Errorf("line %d is %s", i, line)
		}
	}
}

func TestTheResultGoesToTheFileThatIsNamed(t *testing.T) {
	addr := startServer(t, nil)
	file := filepath.Join(t.TempDir(), "result.json")
	_, errs, code := soku(t, "tcp", addr, "-t", "200ms", "--no-save", "-o", file)
	b, err := os.ReadFile(file)
	var r measure.Result
	if code != 0 || err != nil || json.Unmarshal(b, &r) != nil || r.Summary.GoodputBps == 0 {
		t.Errorf("status %d, %v, %s %s", code, err, b, errs)
	}
}

func TestBadInputIsOneSentenceWithTheNextStepAndItsCode(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	open := startServer(t, nil)
	closed := net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.One(t)))
	notSoku := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Write([]byte("220 mail.example ESMTP\r\n"))
				c.Close()
			}
		}()
		return l.Addr().String()
	}()
	locked := startServer(t, func(c *server.Config) { c.Access = server.WithToken("secret") })
	capped := startServer(t, func(c *server.Config) { c.MaxDuration = measure.Duration(1e9) })

	noWarp := "warp"
	if runtime.GOOS == "windows" {
		noWarp = "congestion cannot be set on Windows"
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"unknown test", []string{"htcp", "10.0.0.1"}, 2, []string{`"htcp"`, "tcp"}},
		{"unknown flag", []string{"tcp", "10.0.0.1", "--strems", "4"}, 2, []string{"--strems", "--help"}},
		{"wrong unit", []string{"tcp", "10.0.0.1", "-b", "50X"}, 2, []string{`"50X"`, "50M"}},
		{"wrong time", []string{"tcp", "10.0.0.1", "-t", "soon"}, 2, []string{`"soon"`, "10s"}},
		{"a value after a space", []string{"tcp", "10.0.0.1", "--pin", "2,3"}, 2, []string{"one host at a time", "Write --pin=VALUE"}},
		{"no processor", []string{"udp", "10.0.0.1", "--pin=x"}, 2, []string{"pin: \"x\" is not a processor number", "auto"}},
		{"out of range", []string{"tcp", "10.0.0.1", "-P", "4000"}, 2, []string{"streams 4000", "1..1024"}},
		{"missing host", []string{"tcp"}, 2, []string{"no host", "soku tcp 10.0.0.4"}},
		{"two hosts", []string{"tcp", "a", "b"}, 2, []string{`"b"`, "soku run"}},
		{"an argument too many", []string{"floor", "vm2"}, 2, []string{`"vm2"`, "soku floor --help"}},
		{"an argument too few", []string{"lab", "up"}, 2, []string{"no argument given", "soku lab up --help"}},
		{"unknown name", []string{"tcp", "no-such-host.invalid"}, 4, []string{"no-such-host.invalid", "check the name"}},
		{"refused port", []string{"tcp", closed}, 4, []string{closed, "refused", "soku server"}},
		{"not a soku server", []string{"tcp", notSoku}, 5, []string{notSoku, "soku server"}},
		{"no token", []string{"tcp", locked, "-t", "100ms"}, 5, []string{"token"}},
		{"longer than the server allows", []string{"tcp", capped, "-t", "10s"}, 5, []string{"1s"}},
		{"unknown congestion control", []string{"tcp", open, "-C", "warp", "-t", "100ms"}, 2, []string{noWarp}},
		{"token file that is not there", []string{"tcp", open, "--token-file", "/no/such/file"}, 2, []string{"/no/such/file", "--token-file"}},
		{"output folder that is not there", []string{"tcp", open, "-t", "100ms", "-o", "/no/such/folder/r.json"}, 7, []string{"/no/such/folder/r.json"}},
		{"no such result", []string{"show", "ffffffff"}, 9, []string{"ffffffff", "soku ls"}},
		{"server on a port in use", []string{"server", "--listen", open}, 2, []string{open}},
		{"server with a wrong network", []string{"server", "--allow", "ten"}, 2, []string{`"ten"`, "10.0.0.0/8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := soku(t, c.args...)
			if code != c.code {
				t.Errorf("status %d, want %d: %s", code, c.code, errs)
			}
			text := strings.TrimSuffix(errs, "\n")
			if !strings.HasPrefix(text, "soku: ") || strings.Contains(text, "\n") {
				t.Errorf("stderr is not one sentence: %q", errs)
			}
			for _, w := range c.want {
				if !strings.Contains(errs, w) {
					t.Errorf("stderr lacks %q: %s", w, errs)
				}
			}
			if c.code == 2 && out != "" {
				t.Errorf("stdout is not empty: %s", out)
			}
		})
	}
}

func TestFiguresArePrintedThoughTheStoreCannotKeepThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "soku.db")
	sys, out, errs := fakeSystem(t, "tcp", startServer(t, nil), "-t", "200ms", "--store", file)
	open, opened := sys.OpenStore, 0
	sys.OpenStore = func(ctx context.Context, address string) (store.Store, error) {
		if opened++; opened == 2 { // the first time is before the test
			if err := os.WriteFile(file, []byte(strings.Repeat("this is no database. ", 500)), 0o644); err != nil {
				t.Error(err)
			}
		}
		return open(ctx, address)
	}
	if code := Run(sys); code != 7 || !strings.Contains(out.String(), "counted at the receiver") || !strings.Contains(errs.String(), file) {
		t.Errorf("status %d\n%s\n%s", code, out, errs)
	}
}

func TestAStoreThatIsNoneIsFoundBeforeTheTest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "soku.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("this is no database. ", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code := soku(t, "tcp", startServer(t, nil), "-t", "200ms", "--store", file)
	if code != 7 || out != "" || !strings.Contains(errs, file) || !strings.Contains(errs, "--no-save") {
		t.Errorf("status %d\n%s\n%s", code, out, errs)
	}
}

func TestHelpOfEveryCommandShowsExamplesAndFitsTheTerminal(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	var see func(c *cobra.Command)
	see = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if !below.Hidden {
				see(below)
			}
		}
		sys, stdout, _ := fakeSystem(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		sys.StdoutWidth = func() int { return 80 }
		code := Run(sys)
		out := strings.ReplaceAll(stdout.String(), sys.DataDir, "/home/person/.local/share/soku")
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		if _, examples, ok := strings.Cut(out, "Examples:\n"); code != 0 || !ok || !strings.HasPrefix(strings.TrimSpace(examples), c.CommandPath()) {
			t.Errorf("%s: status %d\n%s", c.CommandPath(), code, out)
		}
	}
	see(Soku.newRoot(sys))
}
