package faults

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"soku/test/built"
)

// The test program is also a broker: the variable is its configuration. It ends with its input.
const brokerConfig = "SOKU_TEST_NATS_CONFIG"

func TestMain(m *testing.M) {
	if file := os.Getenv(brokerConfig); file != "" {
		if err := serve(file); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	built.Main(m)
}

func serve(file string) error {
	options, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	options.NoSigs = true
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("it does not listen")
	}
	fmt.Println("the broker is ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
