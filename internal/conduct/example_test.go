package conduct_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"soku/internal/campaign/journal"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/server"
	"soku/internal/store"
	"soku/internal/store/memory"
)

// Two rounds of one test against a server in this process.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 1, Version: "example"})
	if err != nil {
		panic(err)
	}
	serving, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = s.Serve(serving) }()
	file := filepath.Join(dir, "plan.yaml")
	text := fmt.Sprintf("campaign: example\nto: server\nendpoints: {server: {address: 127.0.0.1, port: %d}}\n"+
		"tests: {up: {test: tcp, duration: 200ms}}\nrounds: 2\n", s.Addr().Port())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	plan, topology, err := conduct.Load(file, os.ReadFile, func() (*catalog.Catalog, error) { return catalog.Builtin(), nil })
	if err != nil {
		panic(err)
	}
	results := memory.New()
	c := conduct.Conductor{Host: conduct.ThisHost(), Store: results, Journals: new(journal.Memory)}
	outcome, err := c.Run(context.Background(), conduct.Order{Plan: plan, Topology: topology})
	n, _ := results.Count(context.Background(), store.Query{})
	fmt.Println(outcome.Done, "of", outcome.Total, "trials,", n, "results,", err)
	// Output: 2 of 2 trials, 2 results, <nil>
}
