package ethr

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/freeport"
	"soku/test/tier"
)

func newView(at *time.Time) *view {
	return &view{now: func() time.Time { return *at }, title: "soku"}
}

func TestTheViewShowsTheTableAndWhatIsBelowIt(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	v := newView(&at)
	v.add("INFO", "Listening")
	v.add("DEBUG", "strange: \x1b[2J\u0085")
	v.statistics([]string{"eth0 Tx 1", "Tcp Retrans: 0"})
	v.table(head(), []string{"first", "second", "third"})
	got := v.frame(70, 20)
	if len(got) != 20 {
		t.Fatalf("%d lines of 20", len(got))
	}
	all := strings.Join(got, "\n")
	for _, line := range []string{"RemoteAddress", "third", "Tcp Retrans: 0", "Listening", "strange: �[2J ", "─Messages─", "─Errors─"} {
		if !strings.Contains(all, line) {
			t.Errorf("no %q in\n%s", line, all)
		}
	}
	for _, line := range got {
		if n := len([]rune(line)); n > 70 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.TrimSpace(got[0]) != "soku" {
		t.Errorf("the title is %q", got[0])
	}
	at = at.Add(2 * time.Second)
	if all := strings.Join(v.frame(70, 20), "\n"); strings.Contains(all, "third") || !strings.Contains(all, "Listening") {
		t.Errorf("two seconds later:\n%s", all)
	}
}

func TestTheViewFitsAnyTerminal(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	v := newView(&at)
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("row %d", i))
		v.add("INFO", "a message that is longer than a narrow terminal")
		v.add("ERROR", "an error")
	}
	v.table(head(), rows)
	for _, size := range [][2]int{{0, 0}, {1, 1}, {10, 3}, {20, 5}, {64, 16}, {300, 200}} {
		lines := v.frame(size[0], size[1])
		if len(lines) > max(size[1], 1) {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if len([]rune(line)) > size[0] {
				t.Errorf("%v: %q", size, line)
			}
		}
	}
	if all := strings.Join(v.frame(64, 16), "\n"); !strings.Contains(all, "row 0") || !strings.Contains(all, "and 98 more") {
		t.Errorf("%s", all)
	}
}

// screenServer runs a server with -ui on a terminal of that size until its screen shows
// a pattern while a client measures, and returns all that it printed.
func screenServer(t *testing.T, columns, lines int, shown string) (out, log *screen) {
	t.Helper()
	port := freeport.One(t)
	ctx, stop := context.WithCancelCause(context.Background())
	out, log = &screen{}, &screen{}
	ended := make(chan int, 1)
	env := Environment{Stdout: out, Now: time.Now, Version: "test", Append: func(string) (io.WriteCloser, error) { return log, nil },
		Size: func() (int, int) { return columns, lines }}
	go func() { ended <- Run(ctx, env, words(fmt.Sprintf("-s -ui -ip 127.0.0.1 -port %d", port))) }()
	defer func() {
		stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
		if status := <-ended; status != 0 {
			t.Errorf("status %d", status)
		}
	}()
	shows(t, out, "Listening on port")
	client, halt := context.WithCancel(t.Context())
	measured := make(chan int, 1)
	go func() {
		status, _ := run(client, &screen{}, fmt.Sprintf("-c 127.0.0.1 -port %d -b 8M -d 0 -no", port))
		measured <- status
	}()
	shows(t, out, shown)
	halt()
	<-measured
	return out, log
}

const serverRow = `\[    127.0.0.1\]    TCP  +[0-9.]+[KM]? `

func TestAServerDrawsOverTheTerminal(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	out, log := screenServer(t, 80, 24, serverRow)
	text := out.String()
	if !strings.Contains(text, "\x1b[?1049h") || !strings.HasSuffix(text, "\x1b[?25h\x1b[?1049l") {
		t.Errorf("the terminal is not as it was: %q", text)
	}
	hasLines(t, log, `"Message":"Listening on port`, `"Type":"TestResult","RemoteAddr":"127.0.0.1"`)
}

func TestAServerWithoutATerminalPrintsLines(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, size := range [][2]int{{0, 0}, {40, 10}} {
		out, _ := screenServer(t, size[0], size[1], "^"+serverRow)
		if strings.ContainsRune(out.String(), 0x1b) || !strings.Contains(out.String(), "the table goes line by line") {
			t.Errorf("%q", out)
		}
	}
}
