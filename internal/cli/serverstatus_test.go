package cli

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/server"
	"soku/internal/text"
	"soku/internal/wire"
	"soku/test/output"
	"soku/test/tier"
)

func TestAClientThatIsNextIsToldSo(t *testing.T) {
	for position, want := range map[int]string{1: "waiting: you are next\n", 3: "waiting: the server measures for others, 2 in the queue before this\n"} {
		var errs strings.Builder
		l := &live{err: &errs, catalogue: text.English()}
		l.state(wire.State{Name: wire.Queued, Position: position})
		if errs.String() != want {
			t.Errorf("position %d: %q", position, errs.String())
		}
	}
}

func TestTheStatusOfAServerHasWhoRunsAndWaits(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, func(c *server.Config) { c.Exclusive, c.Access = true, server.WithToken("sesame") })
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	status := func() string {
		out, errs, code := soku(t, "server", "status", addr, "--token-file", token)
		if code != 0 {
			t.Fatalf("status %d: %s", code, errs)
		}
		return out
	}
	if out := status(); !strings.HasPrefix(out, "soku test at "+addr+": 0 tests running, 0 waiting; one runs at a time\n") {
		t.Errorf("idle: %s", out)
	}
	for range 2 {
		sys, _, _ := fakeSystem(t, "tcp", addr, "--token-file", token, "-b", "8M", "-t", "60s", "--no-save")
		interrupts := make(chan os.Signal, 1)
		sys.Interrupts = interrupts
		done := make(chan struct{})
		go func() { defer close(done); Run(sys) }()
		defer func() { interrupts <- os.Interrupt; <-done }()
	}
	want := regexp.MustCompile(`1 test running, 1 waiting.*\nCLIENT +TEST +STATE +SINCE +RATE\n127.0.0.1 +tcp +running +\d+s +(7\.[0-9]+|8\.[0-4][0-9]*) Mbit/s\n127.0.0.1 +tcp +waiting, place 1 `)
	var out string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !want.MatchString(out); time.Sleep(100 * time.Millisecond) {
		out = status()
	}
	if !want.MatchString(out) {
		t.Errorf("no %s in %s", want, out)
	}
	if out, errs, code := soku(t, "server", "status", addr); code != 5 || !strings.Contains(errs, "wants a token") {
		t.Errorf("without the token: status %d, %s%s", code, out, errs)
	}
	if out, errs, code := soku(t, "server", "status", addr, "--json", "--token-file", token); code != 0 || !strings.Contains(out, `"rate_bps": `) || !strings.Contains(out, `"exclusive": true`) {
		t.Errorf("JSON: status %d, %s%s", code, out, errs)
	}
}

// writes are the texts of single writes.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// A table that was erased before it is drawn again would flicker.
func TestTheTableOfAServerIsDrawnOverTheOneBefore(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	var drawn writes
	sys.Stdout, sys.StdoutWidth, sys.StdoutHeight = &drawn, func() int { return 80 }, func() int { return 24 }
	v := newServerView(sys)
	table := func(clients ...string) [][]string {
		rows := [][]string{{"CLIENT", "TEST"}}
		for _, client := range clients {
			rows = append(rows, []string{client, "tcp"})
		}
		return rows
	}
	for _, rows := range [][][]string{table("a", "b"), table("b"), table(), table()} {
		v.show(rows)
	}
	const head, erase = "CLIENT  TEST\x1b[K\n", "\x1b[J"
	want := []string{
		"\r" + head + "a       tcp\x1b[K\nb       tcp\x1b[K\n" + erase,
		"\x1b[3A\r" + head + "b       tcp\x1b[K\n" + erase,
		"\x1b[2A\r" + erase,
	}
	if !slices.Equal(drawn, want) {
		t.Errorf("%q, want %q", drawn, want)
	}
}

func TestAServerOnATerminalShowsWhoRuns(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	sys, _, errs := fakeSystem(t, "server", "--listen", "127.0.0.1:0")
	out := &output.Buffer{}
	interrupts := make(chan os.Signal, 1)
	sys.Stdout, sys.Interrupts = out, interrupts
	sys.StdoutWidth, sys.StdoutHeight = func() int { return 80 }, func() int { return 24 }
	done := make(chan int)
	go func() { done <- Run(sys) }()
	out.Await(t, "listening on 127.0.0.1:")
	_, rest, _ := strings.Cut(out.String(), "127.0.0.1:")
	port, _, _ := strings.Cut(rest, " ")
	if _, said, code := soku(t, "tcp", net.JoinHostPort("127.0.0.1", port), "-b", "8M", "-t", "4s", "--no-save"); code != 0 {
		t.Fatal(said)
	}
	interrupts <- os.Interrupt
	<-done
	if !regexp.MustCompile(`CLIENT +TEST +STATE +SINCE +RATE\x1b\[K\n127.0.0.1 +tcp +running +[1-4]s +\d\.\d+ Mbit/s`).MatchString(out.String()) {
		t.Errorf("%q", out)
	}
	if !strings.Contains(errs.String(), "test started") || strings.Contains(errs.String(), "CLIENT") {
		t.Errorf("the log is %s", errs)
	}
	shown := out.String()
	if last := shown[strings.LastIndex(shown, "CLIENT"):]; !strings.Contains(last, "\x1b[2A\r\x1b[J") {
		t.Errorf("the table stays: %q", last)
	}
}
