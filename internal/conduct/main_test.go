package conduct

import (
	"context"
	"fmt"
	"os"
	"testing"

	"soku/internal/agent"
	"soku/internal/server"
)

// TestMain is the program of the trials that have a process of their own.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "trial" { //nolint:forbidigo // this is a process of a test
		if err := agent.Serve(context.Background(), os.Stdin, os.Stdout, ThisHost().Here); err != nil { //nolint:forbidigo // as above
			fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // as above
			os.Exit(1)                   //nolint:forbidigo // as above
		}
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // as above
}

// startServer runs a server on a free port until the test ends, and returns its host:port.
func startServer(t testing.TB) string {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 100, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-served })
	return s.Addr().String()
}
