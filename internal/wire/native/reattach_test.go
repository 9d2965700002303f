package native

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
)

// copyServer is a server of a copy that goes wrong in the way of a test: it answers as one that
// runs the test, and after the start its events connection ends as end does it. What comes after that is
// answered by again.
func copyServer(t *testing.T, end func(c *net.TCPConn), again http.HandlerFunc) (addr string, attempts *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	attempts = &atomic.Int64{}
	var attached atomic.Bool
	started := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+SessionsPath, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(Created{ID: "ab", ResumeKey: &Key{}, Options: option.Defaults(measure.TestCopy), Server: &measure.Host{}})
	})
	mux.HandleFunc("POST "+StartPath, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK); close(started) })
	mux.HandleFunc("GET "+EventsPath, func(w http.ResponseWriter, r *http.Request) {
		if attached.Swap(true) {
			attempts.Add(1)
			again(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"event":"queued","position":1}` + "\n" + `{"event":"ready"}` + "\n"))
		control := http.NewResponseController(w)
		_ = control.Flush()
		<-started
		c, _, err := control.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		end(c.(*net.TCPConn))
		_ = c.Close()
	})
	api := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ProtocolHeader, Name)
		mux.ServeHTTP(w, r)
	})}
	go func() { _ = api.Serve(l) }()
	t.Cleanup(func() { _ = api.Close() })
	return l.Addr().String(), attempts
}

func resetConn(c *net.TCPConn) { _ = c.SetLinger(0) }

// startedCopy is a session of a copy that was started, whose client tries again for limit.
func startedCopy(t *testing.T, addr string, limit time.Duration, h wire.Hooks) *session {
	t.Helper()
	opened, err := Open(t.Context(), addr, wire.Request{Test: measure.TestCopy, Options: option.Defaults(measure.TestCopy)}, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	s := opened.(*session)
	s.cuts.limit = limit
	s.cuts.running.Store(true) // before its answer, which the end of the events may overtake
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *session) wantError(t *testing.T, code string) {
	t.Helper()
	select {
	case err := <-s.Err():
		if e, is := errors.AsType[*measure.Error](err); !is || e.Code != code {
			t.Errorf("error %v, want %s", err, code)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the client goes on")
	}
}

// A server without sessions that survive answers that there is none, and one that was started anew as well.
func TestAClientEndsWhenItsServerHasNoSessionAnyMore(t *testing.T) {
	addr, attempts := copyServer(t, resetConn, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(Failure{Error: measure.Fail(measure.KindNotFound, "server.session.unknown", nil)})
	})
	startedCopy(t, addr, time.Minute, wire.Hooks{}).wantError(t, "native.gone")
	if n := attempts.Load(); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// The system of a server that ends closes its connections.
func TestAClientEndsWhenItsServerClosesTheEvents(t *testing.T) {
	addr, attempts := copyServer(t, func(*net.TCPConn) {}, nil)
	startedCopy(t, addr, time.Minute, wire.Hooks{}).wantError(t, "native.gone")
	if n := attempts.Load(); n != 0 {
		t.Errorf("%d attempts", n)
	}
}

// What something else than a soku server answers is no answer, as the page of a gateway that has failed over.
func TestAClientTriesToAttachForALimitedTime(t *testing.T) {
	addr, attempts := copyServer(t, resetConn, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Del(ProtocolHeader)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s := startedCopy(t, addr, 250*time.Millisecond, wire.Hooks{})
	s.wantError(t, "native.gone")
	if n := attempts.Load(); n < 2 || n > 3 {
		t.Errorf("%d attempts", n)
	}
	if c := s.ControlCuts(); c != (wire.ControlCuts{}) {
		t.Errorf("%+v: the connection was not opened again", c)
	}
}

func TestAClientReattachesAfterEachCut(t *testing.T) {
	cuts, read := 0, make(chan struct{}, 1)
	addr, _ := copyServer(t, resetConn, func(w http.ResponseWriter, _ *http.Request) {
		lines := []string{`{"event":"alive"}`, `{"event":"running"}`, `{"event":"other"}`, `{"event":"interval","interval":{}}`, `{"event":"do`}
		if cuts++; cuts == 2 {
			lines = []string{`{"event":"done","end":{}}`, ""}
		}
		_, _ = w.Write([]byte(strings.Join(lines, "\n")))
		if cuts == 1 { // in the middle of the last event
			control := http.NewResponseController(w)
			_ = control.Flush()
			c, _, err := control.Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			<-read // a reset discards what the client has not read
			resetConn(c.(*net.TCPConn))
			_ = c.Close()
		}
	})
	s := startedCopy(t, addr, 5*time.Second, wire.Hooks{Observe: func(measure.Progress) { read <- struct{}{} }})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	select {
	case <-s.over:
	case <-ctx.Done():
		t.Fatal("no end")
	}
	if c := s.ControlCuts(); s.err != nil || s.end == nil || c.Cuts != 2 || c.Longest <= 0 || c.Lasted <= c.Longest {
		t.Errorf("%v, %+v, cuts %+v", s.err, s.end, c)
	}
}

// An interrupted client does not wait for the path.
func TestClosingASessionEndsItsAttempts(t *testing.T) {
	asked := make(chan struct{}, 1)
	addr, attempts := copyServer(t, resetConn, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	s := startedCopy(t, addr, time.Minute, wire.Hooks{})
	select {
	case <-asked:
	case <-time.After(5 * time.Second):
		t.Fatal("the client does not try to attach")
	}
	begin := time.Now()
	if err := s.Close(); err != nil || attempts.Load() != 1 {
		t.Errorf("%v after %d attempts", err, attempts.Load())
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
