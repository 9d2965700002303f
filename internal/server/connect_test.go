package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// connections opens a session of a connect test and returns it.
func (r *running) connections(change func(*measure.Options)) wire.Session {
	r.t.Helper()
	session, err := native.Open(r.t.Context(), r.addr, r.request(measure.TestConnect, options(measure.TestConnect, change)), wire.Hooks{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestConnectionsAreCountedOnEitherPort(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"127.0.0.1:0", ":0"} {
		s := serveWith(t, Config{Listen: listen}, realEngines())
		s.addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), s.Addr().Port()).String()
		for _, size := range []measure.Size{0, 3000} {
			for _, entry := range []string{"auto", "main"} {
				session := s.connections(func(o *measure.Options) {
					o.Count, o.Streams, o.Size, o.Own = 200, 3, size, connect.Options{Close: "auto", Entry: entry}
				})
				e := session.Entry()
				if e.Own.IsValid() == (entry == "main") {
					t.Fatalf("entry %s: own port %s", entry, e.Own)
				}
				to := connect.Target{Addr: e.Own, Await: true}
				if entry == "main" {
					to = connect.Target{Addr: e.Main, Preamble: e.Preamble, Await: true, Reset: true}
				}
				if err := session.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				own, err := connect.Run(t.Context(), to, session.Options(), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				end, err := session.Finish(t.Context(), nil)
				if err != nil || end.Error != nil {
					t.Fatal(err, end)
				}
				if n := *end.Connect.Accepted; n != 200 || own.Connect.Opened != 200 {
					t.Errorf("%s, %d bytes, entry %s: %d accepted of %d", listen, size, entry, n, own.Connect.Opened)
				}
				if entry == "auto" {
					if c, err := net.Dial("tcp", e.Own.String()); err == nil {
						_ = c.Close()
						t.Error("the session's port is open after its end")
					}
				}
			}
		}
		s.free()
	}
}

func TestConnectionsBeforeTheStartAreNotCounted(t *testing.T) {
	t.Parallel()
	s := serveWith(t, Config{}, realEngines())
	session := s.connections(func(*measure.Options) {})
	e := session.Entry()
	for range 3 {
		early, err := net.Dial("tcp", e.Own.String())
		if err != nil {
			t.Fatal(err)
		}
		defer early.Close()
		main, err := net.Dial("tcp", e.Main.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = main.Write(e.Preamble)
		_ = main.SetDeadline(time.Now().Add(10 * prompt))
		if _, err := main.Read(make([]byte, 1)); err == nil {
			t.Error("answered before the start")
		}
		_ = main.Close()
	}
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	end, err := session.Finish(t.Context(), nil)
	if err != nil || *end.Connect.Accepted != 0 {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestAConnectSessionEndsWithItsClient(t *testing.T) {
	t.Parallel()
	s := serveWith(t, Config{}, realEngines())
	session := s.connections(func(o *measure.Options) { o.Size = 10 })
	e := session.Entry()
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Connections that say nothing, half of a preamble, and too much.
	for _, text := range []string{"", "SOKU", string(e.Preamble), string(e.Preamble) + strings.Repeat("x", 500)} {
		for _, to := range []netip.AddrPort{e.Own, e.Main} {
			c, err := net.Dial("tcp", to.String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = c.Write([]byte(text))
		}
	}
	_ = session.Close()
	s.free()
}

func TestAServersRateHoldsConnections(t *testing.T) {
	t.Parallel()
	s := serveWith(t, Config{MaxRate: 320_000}, realEngines())
	session := s.connections(func(*measure.Options) {})
	if got := session.Options().RequestRate; got != 100 {
		t.Errorf("%v connections a second, want 100 of 400 bytes", got)
	}
	want := measure.NewFinding(finding.ServerLoweredConnections, measure.AtServer, measure.Figures{"connections_per_second": 100, "limit_bps": 320_000})
	if found := session.Findings(); len(found) != 1 || !found[0].Equal(want) {
		t.Errorf("findings %+v, want %+v", found, want)
	}
	slower := s.connections(func(o *measure.Options) { o.RequestRate = 10 })
	if got := slower.Options().RequestRate; got != 10 || len(slower.Findings()) != 0 {
		t.Errorf("%v, %+v", got, slower.Findings())
	}

	// A client that does not keep to it is ended.
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() { cancel(<-session.Err()) }()
	fast := session.Options()
	fast.RequestRate, fast.Duration, fast.Streams = 0, measure.Duration(time.Minute), 4
	_, err := connect.Run(ctx, connect.Target{Addr: session.Entry().Own, Await: true}, fast, nil, nil)
	var failure *measure.Error
	if !errors.As(err, &failure) || failure.Kind != measure.KindRefused || !strings.Contains(failure.Message, "more than 100 connections a second") {
		t.Errorf("got %v", err)
	}
}
