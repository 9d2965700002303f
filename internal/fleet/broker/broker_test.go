package broker_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"soku/internal/fleet"
	"soku/internal/fleet/broker"
	"soku/internal/measure"
)

// A broker that starts again takes the accounts that the hub gives it, and those do not bring back who was revoked.
func TestARevocationOutlivesTheBroker(t *testing.T) {
	s, folder := newSite(t), t.TempDir()
	a, stays := s.agent(t, time.Hour), s.agent(t, time.Hour)
	b := s.run(t, folder, "127.0.0.1:0")
	must(t)(s.dial(t, 0, a.proves()))
	if err := s.Revoke(t.Context(), s.system(t).Conn, a.id, "test"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	s.run(t, folder, "127.0.0.1:0")
	s.refuses(t, "a revoked agent", a.proves())
	must(t)(s.dial(t, 0, stays.proves()))
}

// A broker that could not be reached learns later who is revoked.
func TestARevocationWaitsForTheBroker(t *testing.T) {
	s := embedded(t)
	a, system := s.agent(t, time.Hour), s.system(t)
	m := must(t)(s.dial(t, 0, a.proves()))
	gone := s.system(t)
	gone.Close()
	if err := s.Revoke(t.Context(), gone.Conn, a.id, "test"); measure.KindOf(err) != measure.KindUnreachable {
		t.Errorf("without a connection: %v", err)
	}
	if _, err := s.Registry.Admitted(t.Context(), a.id); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("it is admitted: %v", err)
	}
	if !m.IsConnected() {
		t.Error("it is cut off before the broker knows")
	}
	if err := s.Push(t.Context(), system.Conn); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.ended:
	case <-time.After(waits):
		t.Error("it is not cut off")
	}
}

func TestNATSPassesThroughTheHTTPSServerOfTheHub(t *testing.T) {
	s := embedded(t)
	mux := http.NewServeMux()
	mux.Handle(fleet.PathNATS, s.embedded.WebSocket())
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{s.certificate}, MinVersion: tls.VersionTLS13}
	server.StartTLS()
	defer server.Close()
	a, hub := s.agent(t, time.Hour), s.hub(t)
	s.urls = []string{strings.Replace(server.URL, "https://", "wss://", 1)}
	m := must(t)(s.dial(t, 0, a.proves(), nats.ProxyPath(strings.TrimPrefix(fleet.PathNATS, "/")), nats.CustomInboxPrefix(fleet.Down(a.id, fleet.DownAnswer))))
	if _, err := hub.Subscribe(fleet.AllUp(fleet.UpHello), func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, fleet.MaxMessage)
	got, err := answered(func() (*nats.Msg, error) { return m.Request(fleet.Up(a.id, fleet.UpHello), large, waits) })
	if err != nil || !bytes.Equal(got.Data, large) {
		t.Fatal(err)
	}
	other := s.agent(t, time.Hour).id
	if err := m.Publish(fleet.Up(other, fleet.UpHello), nil); err != nil || !m.denied(t, fleet.Up(other, fleet.UpHello)) {
		t.Errorf("it speaks for another agent: %v", err)
	}
	if host, _, _ := net.SplitHostPort(s.embedded.WebSocketAddress()); host != "127.0.0.1" {
		t.Errorf("without TLS it listens on %s", s.embedded.WebSocketAddress())
	}
	// A page in a browser does not connect, and paths for servers of NATS are not passed on.
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+fleet.PathNATS, nil)
	for key, value := range map[string]string{"Origin": "https://elsewhere.example", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		r.Header.Set(key, value)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS13}}}
	said, err := client.Do(r)
	if err != nil || said.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v, %v", said, err)
	}
	client.CloseIdleConnections()
}

func TestTheListenerHasTLSAlone(t *testing.T) {
	s := embedded(t)
	a := s.agent(t, time.Hour)
	plain, err := nats.Connect(strings.Replace(s.url(0), "tls://", "nats://", 1), a.proves(), nats.NoReconnect())
	if err == nil {
		plain.Close()
		t.Error("a client that does not know the certificate connects")
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		m, err := s.dial(t, 0, a.proves(), nats.Secure(&tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12, MaxVersion: version}))
		if (err == nil) != (version == tls.VersionTLS13) {
			t.Errorf("TLS %x: %v", version, err)
		}
		if err == nil {
			m.Close()
		}
	}
}

func TestABrokerThatCannotRunSaysWhy(t *testing.T) {
	s := newSite(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for what, c := range map[string]struct {
		change func(*broker.Options)
		kind   measure.Kind
		says   string
	}{
		"a port in use":           {func(o *broker.Options) { o.Listen = taken.Addr().String() }, measure.KindUnreachable, "in use"},
		"no port":                 {func(o *broker.Options) { o.Listen = "127.0.0.1" }, measure.KindUsage, "127.0.0.1"},
		"no certificate":          {func(o *broker.Options) { o.TLS = nil }, measure.KindUsage, "certificate"},
		"no operator":             {func(o *broker.Options) { o.Operator = "x" }, measure.KindUsage, "operator"},
		"no account":              {func(o *broker.Options) { o.Accounts = nil }, measure.KindUsage, "account"},
		"a folder that is a file": {func(o *broker.Options) { o.Folder = "broker_test.go" }, measure.KindStore, "broker_test.go"},
	} {
		o := s.options(t, t.TempDir())
		c.change(&o)
		b, err := broker.Start(t.Context(), o)
		if err == nil {
			b.Close()
		}
		if measure.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the hub ends"))
	if _, err := broker.Start(over, s.options(t, t.TempDir())); measure.KindOf(err) != measure.KindInterrupted {
		t.Error(err)
	}
}

// lines is a log that a test reads, as it is written.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (*lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler             { return l }
func (l *lines) WithGroup(string) slog.Handler                  { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Message)
	return nil
}

// An agent can have the server write a line for each of its messages, with texts of its own.
func TestTheLogIsBoundedAndClean(t *testing.T) {
	s, log := newSite(t), &lines{}
	o := s.options(t, t.TempDir())
	o.Log = slog.New(log)
	b, err := broker.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.embedded, s.urls = b, []string{"tls://" + b.Address()}
	a := s.agent(t, time.Hour)
	m := must(t)(s.dial(t, 0, a.proves(), nats.Name("a\x1b[2J")))
	for range 2000 {
		_ = m.Publish("else\x1bwhere", nil)
	}
	if err := m.FlushTimeout(waits); err != nil {
		t.Fatal(err)
	}
	m.Close()
	b.Close()
	text := strings.Join(log.all, "|")
	if n := len(log.all); n < 10 || n > 300 || strings.ContainsAny(text, "\x1b\n") || strings.Contains(text, "PRODUCTION") || !strings.Contains(text, "Publish Violation") {
		t.Errorf("%d lines: %.2000q", n, text)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	s := newSite(t)
	o := s.options(t, t.TempDir())
	o.Connections = 3
	b, err := broker.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s.embedded, s.urls = b, []string{"tls://" + b.Address()}
	a := s.agent(t, time.Hour)
	for range o.Connections {
		must(t)(s.dial(t, 0, a.proves()))
	}
	if b.Connections() != o.Connections {
		t.Errorf("%d connections", b.Connections())
	}
	s.refuses(t, "one connection more", a.proves())
}

func TestNothingIsLeftOfABroker(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := newSite(t)
	b, err := broker.Start(t.Context(), s.options(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	s.embedded, s.urls = b, []string{"tls://" + b.Address()}
	hub, m := s.hub(t), must(t)(s.dial(t, 0, s.agent(t, time.Hour).proves()))
	b.Close()
	for _, c := range []*member{hub, m} {
		select {
		case <-c.ended:
		case <-time.After(waits):
			t.Error("a connection stays")
		}
	}
	if err := goleak.Find(before, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener")); err != nil {
		t.Error(err)
	}
}
