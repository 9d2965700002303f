package iperf3

import (
	"testing"

	"go.uber.org/goleak"

	"soku/internal/server"
	"soku/test/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a server under test that clients of iperf3 find on its own port and on one
// for them.
type running struct {
	*servertest.Server
	t    *testing.T
	addr string
}

func serve(t *testing.T, cfg server.Config, own Config, change ...func(*handler)) *running {
	t.Helper()
	cfg.Foreign = []server.Foreign{{Protocol: &observed{protocol{own}, func(h *handler) {
		for _, c := range change {
			c(h)
		}
	}}, Listen: "127.0.0.1:0"}}
	s := servertest.Start(t, cfg)
	return &running{Server: s, t: t, addr: s.Addr().String()}
}

// observed is the protocol, and shows the handlers that it makes.
type observed struct {
	protocol
	made func(*handler)
}

func (o *observed) NewHandler(s server.Services) server.Handler {
	h := newHandler(o.cfg, s)
	o.made(h)
	return h
}
