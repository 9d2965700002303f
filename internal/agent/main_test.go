package agent_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/agent"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
)

// TestMain is also the processes that tests start: SOKU_TEST_CHILD says which.
func TestMain(m *testing.M) {
	if how, is := os.LookupEnv("SOKU_TEST_CHILD"); is {
		os.Exit(beChild(how))
	}
	goleak.VerifyTestMain(m)
}

// How the processes that tests start behave; anything else is a trial that is
// invented.
const (
	measures = "measures" // a trial as it is
	crashes  = "crashes"
	greets   = "greets" // and runs no trial
	isSilent = "is silent"
	never    = "never ends" // its trial
	ignores  = "ignores the end of its input"
	old      = "is old" // and knows of no barrier
	floods   = "reports more than a trial has"
	chatters = "writes lines that are no reports for ever"
	unending = "writes a line without an end"
	lingers  = "writes for ever after its result"
)

func beChild(how string) int {
	switch how {
	case crashes:
		fmt.Fprintln(os.Stderr, "starting\nfatal error: out of luck")
		return 2
	case greets:
		fmt.Println("Welcome to vm1, last login yesterday")
		return 0
	case isSilent:
		return 0
	case floods:
		fmt.Println(`{"result":{"flows":[{"streams":[` + strings.Repeat("{},", 500_000) + `{}]}]}}`)
		return 0
	case chatters, unending, lingers:
		signal.Ignore(syscall.SIGPIPE) // as a shell with echo in a loop goes on
		text := strings.Repeat("{}\n", 1000)
		if how == unending {
			text = strings.Repeat("x", 1<<16)
		}
		if how == lingers {
			fmt.Println(`{"result":{"schema":"soku.result/1","id":"child"}}`)
		}
		for {
			fmt.Print(text)
		}
	case ignores:
		fmt.Println(`{"progress":{"bytes":2}}`)
		time.Sleep(time.Hour)
	}
	fmt.Println("Welcome to vm1") // shells greet
	place := agent.Place(invented{how})
	if how == measures {
		place = agent.Local{Version: "test"}
	}
	if err := agent.Serve(context.Background(), os.Stdin, os.Stdout, place); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// invented is a place whose results are invented.
type invented struct{ how string }

func (i invented) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	r := &measure.Result{Schema: measure.Schema, ID: "child", Test: s.Test, Options: s.Options,
		Path: measure.Path{Client: s.Client, Server: s.Server}, Findings: measure.OfSentences([]string{s.Host, s.Access.Token, s.Trial.Pattern})}
	if h.Ready != nil && i.how != old {
		if _, err := h.Ready(ctx, 0); err != nil {
			r.Error = measure.AsError(err, measure.KindBroken)
			return r
		}
		h.Started(time.Now(), 0)
	}
	for n := range 3 {
		h.Progress(measure.Progress{Bytes: int64(n)})
	}
	if i.how == never {
		<-ctx.Done()
	}
	return r
}

// child is a place whose processes behave as said; prefix starts them, if there is one.
func child(how string, prefix ...string) agent.Process {
	return agent.Process{Now: time.Now, Command: func(ctx context.Context) (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		argv := append(prefix[:len(prefix):len(prefix)], self)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "SOKU_TEST_CHILD="+how)
		return cmd, nil
	}}
}

// aSpec is a trial without a server.
func aSpec() agent.Spec {
	return agent.Spec{
		Schema: agent.Schema, Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP), Host: "10.0.0.4",
		Client: measure.Endpoint{Name: "onprem"}, Server: measure.Endpoint{Name: "vm", Address: "10.0.0.4"},
		Trial:  measure.Trial{Campaign: "c1", Pattern: "small", Levels: []measure.Level{}, Label: "up", Round: 1, Repeat: 1, Order: 3},
		Access: agent.Access{Token: "secret"},
	}
}

// startServer runs a server on loopback until the test ends and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}
