package ssh_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/fleet/endpoint"
)

// TestMain makes the test program what is copied to hosts: "soku endpoint" and "soku wait",
// which stands in for a trial.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && filepath.Base(os.Args[0]) == "soku" {
		if err := command(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func command(name string) error {
	switch name {
	case "endpoint":
		e := endpoint.Endpoint{Version: "test", Listen: listen, Silence: endpoint.Silence}
		return e.Run(context.Background(), os.Stdin, os.Stdout)
	case "wait": // as a trial does: until its file is gone
		fmt.Println("waiting")
		for {
			if _, err := os.Stat(os.Args[3]); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return errors.New("no such command")
}

// listen stands in for a server: all ports but the last are taken.
func listen(s endpoint.Server) (at endpoint.Listening, run func(context.Context) error, err error) {
	if s.Token == "" {
		return at, nil, errors.New("no token")
	}
	at.Port = s.Ports[len(s.Ports)-1]
	return at, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil
}

func openFile(name string) (fs.File, error) { return os.Open(name) }
