package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// route is one operation of the control API; docs/openapi.yaml describes each.
type route struct {
	method, path string
	serve        func(s *Server, w http.ResponseWriter, r *http.Request)
}

var routes = []route{
	{http.MethodGet, native.InfoPath, (*Server).info},
	{http.MethodGet, native.QueuePath, (*Server).showQueue},
	{http.MethodPost, native.SessionsPath, (*Server).create},
	{http.MethodGet, native.EventsPath, (*Server).events},
	{http.MethodPost, native.StartPath, (*Server).start},
	{http.MethodPost, native.FinishPath, (*Server).finish},
	{http.MethodDelete, native.SessionPath, (*Server).end},
}

// connKey finds the connection that a request came over.
type connKey struct{}

func connOf(r *http.Request) *controlConn { return r.Context().Value(connKey{}).(*controlConn) }

func (s *Server) newHTTP() *http.Server {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, q *http.Request) { r.serve(s, w, q) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		fail(w, http.StatusNotFound, measure.KindNotFound, "server.request.path", measure.Figures{"method": q.Method, "path": q.URL.Path, "protocol": native.Name})
	})
	return &http.Server{
		Handler:           s.guard(mux),
		ReadHeaderTimeout: native.SniffTimeout,
		ReadTimeout:       2 * native.SniffTimeout,
		IdleTimeout:       native.IdleTimeout,
		MaxHeaderBytes:    native.MaxHeader,
		ErrorLog:          log.New(io.Discard, "", 0),
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secure, ok := c.(*tls.Conn); ok {
				c = secure.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c.(*controlConn))
		},
	}
}

// servePlain gives a control connection to the HTTP server.
func (s *Server) servePlain(c *Conn) {
	if cc := s.claim(c.TCPConn, c.First); cc != nil {
		s.control.give(cc)
	}
}

// handshakeFailure is a TLS alert record (RFC 8446, section 6) that tells a
// client immediately that there is no TLS here.
var handshakeFailure = []byte{21, 3, 3, 0, 2, 2, 40}

func (s *Server) serveTLS(c *Conn) {
	if s.cfg.TLS == nil {
		_, _ = c.Write(handshakeFailure)
		_ = c.Close()
		return
	}
	config := s.cfg.TLS.Clone()
	config.NextProtos = []string{"http/1.1"}
	if cc := s.claim(c.TCPConn, c.First); cc != nil {
		s.control.give(tls.Server(cc, config))
	}
}

// claim makes c a control connection whose loss is noticed, and returns nil,
// with c closed, when there are too many.
func (s *Server) claim(c *net.TCPConn, first []byte) *controlConn {
	_ = c.SetDeadline(time.Time{})
	_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 2})
	if raw, err := c.SyscallConn(); err == nil {
		// The heartbeats of an events stream are what stays unacknowledged: this
		// ends the connection about the time of silence after the client's host vanished.
		noticeLoss(raw, int((s.times.silence-s.times.heartbeat)/time.Millisecond))
	}
	cc := s.control.claim(c, first)
	if cc == nil {
		_ = c.Close()
		return nil
	}
	s.unclassified.release(c)
	return cc
}

// guard is what every request passes: allowed address, TLS where it is wanted,
// access, protocol version, and a bounded body.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(native.ProtocolHeader, native.Name)
		peer := clientOf(r)
		refused := s.access(r, nil)
		switch spoken := r.Header.Get(native.ProtocolHeader); {
		case !s.allowed(peer.Addr()):
			w.Header().Set("Connection", "close")
			fail(w, http.StatusForbidden, measure.KindRefused, "server.not_allowed", measure.Figures{"client": peer.Addr().String()})
		case s.cfg.TLS != nil && r.TLS == nil && !s.cfg.PlainToo:
			w.Header().Set("Connection", "close")
			fail(w, http.StatusUpgradeRequired, measure.KindRefused, "server.wants_tls", nil)
		case refused != nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refusals.log(s.log, peer.Addr(), refused)
			answerError(w, http.StatusUnauthorized, refused)
		case spoken != "" && spoken != native.Name:
			fail(w, http.StatusBadRequest, measure.KindRefused, "server.protocol", measure.Figures{"server": native.Name, "client": fmt.Sprintf("%.20s", spoken)})
		default:
			r.Body = http.MaxBytesReader(w, r.Body, native.MaxBody)
			if Guard(s.log, func() error { next.ServeHTTP(w, r); return nil }, "client", peer, "path", r.Pattern) != nil {
				panic(http.ErrAbortHandler) // the answer may have begun
			}
		}
	})
}

// access is why a request, or the session that it wants, is refused, or nil.
func (s *Server) access(r *http.Request, wanted *Wanted) *measure.Error {
	if s.cfg.Access == nil {
		return nil
	}
	return s.cfg.Access(Ask{Token: bearer(r), Session: wanted})
}

// refusals are requests and sessions without access. One a second is logged, with how many others there were
// since the last: a log must not grow as fast as a client can ask.
type refusals struct {
	mu     sync.Mutex
	next   time.Time
	others int
}

func (r *refusals) log(to *slog.Logger, client netip.Addr, why *measure.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Before(r.next) {
		r.others++
		return
	}
	to.Warn("token refused", "client", client, "error", why.Message, "others", r.others)
	r.next, r.others = now.Add(time.Second), 0
}

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

func clientOf(r *http.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// localOf is the address of this host that the request came to.
func localOf(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

// fail answers with the failure of a code.
func fail(w http.ResponseWriter, status int, kind measure.Kind, code string, figures measure.Figures) {
	answerError(w, status, measure.Fail(kind, code, figures))
}

func answerError(w http.ResponseWriter, status int, err *measure.Error) {
	reply(w, status, native.Failure{Error: err})
}
