package daemon

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/text"
)

var (
	english    = text.English()
	discardLog = log.New(io.Discard, "", 0)
)

// TestMain is also the processes that agents start: the trial and the endpoint of soku.
func TestMain(m *testing.M) {
	if _, is := os.LookupEnv("SOKU_TEST_CHILD"); is {
		if err := beChild(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func beChild(args []string) error {
	switch args[0] {
	case "agent":
		return Run(context.Background(), Config{
			Folder: args[1], Hub: args[2], Pin: fleet.Pin(args[3]), Token: "of the test", Name: "tester", Version: "test",
			Command: childCommand, Say: func(string) {}, Catalogue: english,
		})
	case "endpoint":
		return endpoint.Serve(context.Background(), os.Stdin, os.Stdout)
	}
	return agent.Serve(context.Background(), os.Stdin, os.Stdout, agent.Local{Version: "test"})
}

func childCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "SOKU_TEST_CHILD=1")
	return cmd, nil
}
