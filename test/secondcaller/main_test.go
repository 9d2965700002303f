package main

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/server"
)

func TestAProgramOfItsOwnRunsAPlan(t *testing.T) {
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(ctx) }()
	defer func() { stop(); <-served }()
	_, port, _ := net.SplitHostPort(s.Addr().String())
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := fmt.Sprintf(`campaign: second
endpoints:
  here: {}
  there: {address: 127.0.0.1, port: %s}
from: here
to: there
factors:
  streams: {levels: [1, 2]}
tests:
  tcp: {test: tcp, duration: 300ms, interval: 100ms}
rounds: 2
`, port)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	l := &lines{w: &out}
	if err := run(t.Context(), plan, l); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 6 || got[0] != "begun: 4 trials" || !strings.HasPrefix(got[4], "4 of 4: ") || got[5] != "ended: 4 done, 0 failed" || l.samples == 0 {
		t.Errorf("%d samples and\n%s", l.samples, out.String())
	}
}

func TestTheProgramIsShortAndWithoutTheCommandLine(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 80 {
		t.Errorf("%d lines", n)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, imp := range f.Imports {
		if strings.Contains(imp.Path.Value, "internal/cli") {
			t.Errorf("it imports %s", imp.Path.Value)
		}
	}
}
