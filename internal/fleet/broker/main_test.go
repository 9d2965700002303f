package broker_test

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The test program is also a nats-server: the first variable is its configuration, the second one with how many others
// it forms a cluster. It says that it is ready, and ends with its input.
const (
	serverConfig = "SOKU_TEST_NATS_CONFIG"
	serverPeers  = "SOKU_TEST_NATS_PEERS"
	isReady      = "the cluster is ready"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(serverConfig); file != "" {
		if err := serve(file); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(file string) error {
	options, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	defer s.Shutdown()
	peers, err := strconv.Atoi(os.Getenv(serverPeers))
	if err != nil || !s.ReadyForConnections(10*time.Second) {
		return fmt.Errorf("it does not listen, or has no number of peers: %w", err)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		routes, err := s.Routez(nil)
		if err != nil {
			return err
		}
		others := map[string]bool{}
		for _, r := range routes.Routes {
			others[r.RemoteID] = true
		}
		if len(others) == peers {
			break
		}
		if time.Since(begin) > 20*time.Second {
			return fmt.Errorf("%d of %d peers", len(others), peers)
		}
	}
	fmt.Println(isReady)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
