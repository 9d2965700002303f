package iperf3

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/server"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/test/tier"
)

// sokuServer is a soku server in this process until the test ends.
func sokuServer(t *testing.T) (port string) {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", Foreign: []server.Foreign{{Protocol: serveriperf3.New(serveriperf3.Config{Observer: ServerOutput("test", time.Now)})}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return strconv.Itoa(int(s.Addr().Port()))
}

func TestServerOutputOfSokuServerIsThatOfIperf3(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	own := sokuServer(t)
	for _, mode := range []string{"", "-R", "--bidir", "-P 2 -O 1", "-u", "-u -R", "-u --bidir"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			port, _ := realServer(t)
			var printed [2]string
			for i, p := range []string{port, own} {
				words := append([]string{"-c", "127.0.0.1", "-p", p, "-J", "--get-server-output", "-t", "2", "-b", "10M"}, strings.Fields(mode)...)
				out := execute(t, program, words...)
				if printed[i] = wording(parsed(t, out.stdout), "server_output_text"); printed[i] == "" {
					t.Fatalf("no output: %s%s", out.stdout, out.stderr)
				}
			}
			if a, b := common(printed[0]), common(printed[1]); a != b {
				t.Errorf("iperf3 prints\n%s\nand soku\n%s", a, b)
			}
		})
	}
	if out := execute(t, program, "-c", "127.0.0.1", "-p", own, "-J", "-n", "1M"); strings.Contains(out.stdout, "server_output") {
		t.Error("a client that did not request output got it")
	}
}

func TestOutputKeptForAClientIsBounded(t *testing.T) {
	tier.SpendsSeconds(t)
	w := newText(nothing{}, nothing{}, defaults(), time.Now)
	w.keep = true
	for range 20 {
		w.print("%s", strings.Repeat("x", 1<<20))
	}
	if w.kept.Len() > mostKept || w.kept.Len() < mostKept/2 {
		t.Errorf("%d bytes are kept", w.kept.Len())
	}
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
