package ethr

import (
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/test/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a server under test.
type running struct {
	*servertest.Server
	t       *testing.T
	handler *handler
}

// serve runs a server with a port for Ethr's clients, whose tests are over soon after
// the last of them has come.
func serve(t *testing.T, cfg server.Config, hooks Hooks) (r *running, at netip.AddrPort) {
	t.Helper()
	p := &quick{protocol: protocol{hooks}, change: func(h *handler) { h.quiet = 200 * time.Millisecond }}
	cfg.Foreign = []server.Foreign{{Protocol: p, Listen: "127.0.0.1:0"}}
	s := servertest.Start(t, cfg)
	at, ok := s.ForeignAddr(option.ViaEthr)
	if !ok {
		t.Fatal("no port for Ethr")
	}
	return &running{s, t, p.made}, at
}

// quick is the protocol with handlers that are changed before they serve.
type quick struct {
	protocol
	change func(*handler)
	made   *handler
}

func (q *quick) NewHandler(s server.Services) server.Handler {
	q.made = newHandler(q.hooks, s)
	q.change(q.made)
	return q.made
}

// conns is how many connections of tests the server has.
func (r *running) conns() int {
	r.handler.mu.Lock()
	defer r.handler.mu.Unlock()
	return r.handler.conns
}
