// Package servertest runs a server for the tests of the protocols that it serves.
package servertest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// Prompt is how long an immediate reaction may take on a busy machine.
const Prompt = 2 * time.Second

// Server is a server under test.
type Server struct {
	*server.Server
	t    *testing.T
	logs *logBuffer
	stop func()
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Start runs a server until the test ends; on a free port of 127.0.0.1 where cfg names
// no address. Its log is kept.
func Start(t *testing.T, cfg server.Config) *Server {
	t.Helper()
	logs := &logBuffer{}
	cfg.Log = slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &Server{Server: s, t: t, logs: logs, stop: stop}
}

// Stop ends the server and waits for it.
func (s *Server) Stop() { s.stop() }

// Logs is what the server logged so far.
func (s *Server) Logs() string {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	return s.logs.b.String()
}

// Port is the number of the server's own port.
func (s *Server) Port() string { return strconv.Itoa(int(s.Addr().Port())) }

// Queue is the sessions that measure and wait, as the server reports them to all clients. It must speak
// soku's own protocol, too.
func (s *Server) Queue() native.Queue {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.Addr().String()+native.QueuePath, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var q native.Queue
	if err := json.NewDecoder(response.Body).Decode(&q); err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("the queue: %s, %v", response.Status, err)
	}
	return q
}

// Waiting waits until n clients wait for their turn.
func (s *Server) Waiting(n int) {
	s.t.Helper()
	Eventually(s.t, 5*time.Second, "not "+strconv.Itoa(n)+" wait", func() bool { return len(s.Queue().Waiting) == n })
}

// Idle waits until no session measures or waits.
func (s *Server) Idle() {
	s.t.Helper()
	Eventually(s.t, Prompt, "tests are left", func() bool {
		q := s.Queue()
		return len(q.Running)+len(q.Waiting) == 0
	})
}

// Occupy takes a turn with a session of soku's own protocol, until leave.
func (s *Server) Occupy() (leave func()) {
	s.t.Helper()
	return s.OccupyFor(option.Defaults(measure.TestTCP).Duration)
}

// OccupyFor is Occupy for a test of that duration.
func (s *Server) OccupyFor(d measure.Duration) (leave func()) {
	s.t.Helper()
	o := option.Defaults(measure.TestTCP)
	o.Duration = d
	o, err := option.Effective(o, measure.TestTCP)
	if err != nil {
		s.t.Fatal(err)
	}
	session, err := native.Open(s.t.Context(), s.Addr().String(), wire.Request{Test: measure.TestTCP, Options: o}, wire.Hooks{})
	if err != nil {
		s.t.Fatal(err)
	}
	return func() { _ = session.Close() }
}

// Eventually waits for a condition that nothing announces; what says what is wrong
// until then.
func Eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", limit, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
