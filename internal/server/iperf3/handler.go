// Package iperf3 is the server's side of iperf3's protocol: what package server needs
// to serve clients of iperf3. docs/reference/iperf3.md says what is spoken; the
// messages are in package wire/iperf3.
//
// A test is led on the goroutine of its control connection, with another that waits
// for the client's word while it runs, and those of the engines.
package iperf3

import (
	"io"
	"net/netip"
	"time"

	"soku/internal/engine"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

// Config is what an operator decides for clients of iperf3 alone. The zero value is
// good.
type Config struct {
	Users *wire.Guard    // which clients are served; nil: all, or none where the server has a token
	Pin   option.Pinning // processors for tests whose clients ask for none
	// Observer returns the observer of the next test; nil: none. If another test is still
	// shown it waits, or, without wait, returns nil.
	Observer func(wait bool) Observer
	// EndsAmounts: if the server limits the time of a test, one of bytes or blocks is ended after
	// that time. Otherwise it is refused, as iperf3's own server does.
	EndsAmounts bool
	Times       Times           // what a client may take its time for
	Files       engine.Contents // of the streams, over TCP alone
}

// New returns the protocol.
func New(cfg Config) server.Protocol { return protocol{cfg} }

type protocol struct{ cfg Config }

// Name implements [server.Protocol].
func (protocol) Name() string { return option.ViaIperf3 }

// Match implements [server.Protocol]: a connection begins with a cookie.
func (protocol) Match(first []byte) (ours bool, more int) {
	first = first[:min(len(first), wire.CookieSize)]
	return wire.MayBeCookie(first), wire.CookieSize - len(first)
}

// NewHandler implements [server.Protocol].
func (p protocol) NewHandler(s server.Services) server.Handler { return newHandler(p.cfg, s) }

// handler serves the clients of one server.
type handler struct {
	server.Services
	cfg        Config
	tests      *registry
	asked      *server.FairLimit // clients whose parameters are awaited
	streamWait time.Duration     // for the streams of a test
}

func newHandler(cfg Config, s server.Services) *handler {
	return &handler{Services: s, cfg: cfg, tests: newRegistry(), asked: server.NewFairLimit(maxAsked), streamWait: 10 * time.Second}
}

// ServeConn implements [server.Handler]: it reads a cookie. One that is known brings a
// stream of its test, another is a client's control connection.
func (h *handler) ServeConn(c *server.Conn) {
	kept := false
	defer func() {
		if !kept {
			_ = c.Close()
		}
	}()
	client := sock.AddrPort(c.RemoteAddr())
	var cookie wire.Cookie
	if _, err := io.ReadFull(c, cookie[copy(cookie[:], c.First):]); err != nil || !wire.MayBeCookie(cookie[:]) {
		return
	}
	// There is no other word for "no" before parameters are exchanged.
	if !h.Serves(client.Addr(), h.cfg.Users != nil) {
		h.Log().Debug("refused a client of iperf3", "client", client)
		_ = wire.WriteState(c, wire.AccessDenied)
		return
	}
	c.Release()
	if t := h.tests.find(cookie); t != nil {
		if kept = t.takeTCP(c.TCPConn, c.Number); !kept {
			_ = wire.WriteState(c, wire.AccessDenied)
		}
		return
	}
	h.newTest(c.Port, c.TCPConn, cookie).lead()
}

// ServeDatagram implements [server.Handler]: it opens a UDP stream for the test that
// waits for one from this address. Nothing else is answered: the address was proven by
// the control connection.
func (h *handler) ServeDatagram(at server.Port, from netip.AddrPort, b []byte) (ours bool) {
	if !wire.IsUDPConnect(b) {
		return false
	}
	t := h.tests.from(from.Addr())
	if t == nil || t.at != at {
		return false
	}
	t.takeUDP(from, b)
	return true
}

// Close implements [server.Handler]. Tests end with their control connections.
func (h *handler) Close() {}
