package service

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/panics"
	"soku/internal/store/sqlstore"
	"soku/internal/web"
)

// newServer makes the HTTPS server, which gives requests to what [Service.answer] was called with last.
func (s *Service) newServer(config *tls.Config) {
	s.server = &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.answers.Load()).ServeHTTP(w, r) }),
		TLSConfig: config, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
}

func (s *Service) answer(h http.Handler) { s.answers.Store(&h) }

// serveOn serves a listener until the server ends, or waits for that where the listener is served already.
func (s *Service) serveOn(l net.Listener) error {
	if l == s.listener && s.served != nil {
		return <-s.served
	}
	return s.server.ServeTLS(l, "", "")
}

// awaitTurn opens the journals, and waits while another hub serves the agents of the same brokers. Meanwhile requests are answered
// with that, and the listener stays served afterwards. url is by which the hub is reached when it serves.
func (s *Service) awaitTurn(ctx context.Context, db *sqlstore.Store, url string) (err error) {
	name, _ := os.Hostname()
	own := "hub on " + name
	s.journals, err = sqljournal.Open(context.WithoutCancel(ctx), db, fmt.Sprintf("%s, %s", own, s.o.Folder))
	if err == nil {
		err = s.journals.Release() // a former hub of this folder has ended, because this one has its lock
	}
	if err != nil || len(s.o.Brokers) == 0 {
		return err
	}
	var now atomic.Pointer[web.Wait]
	since, before := time.Now(), ""
	waits := func(h sqljournal.Holder) {
		host, _, _ := strings.Cut(h.Name, ", ") // not the folder: the page is for anybody
		if h.URL == url || !strings.HasPrefix(h.URL, "https://") {
			h.URL = "" // both hubs have one proxy
		}
		now.Store(&web.Wait{Since: since, Hub: own, For: host, URL: h.URL, Until: h.Until})
		if h.Name != before && s.o.Waits != nil {
			s.o.Waits(h.Name)
		}
		before = h.Name
	}
	waiting, err := web.NewWaiting(s.o.Text, s.o.Log, func() web.Wait { return *now.Load() })
	if err != nil {
		return err
	}
	s.turn, err = s.journals.AwaitTurn(ctx, url, func(h sqljournal.Holder) {
		waits(h)
		s.serveWhileWaiting(waiting)
	})
	if err != nil {
		return err
	}
	if last := now.Load(); last != nil {
		now.Store(&web.Wait{Since: since, Hub: own})
	}
	s.closing = append(s.closing, func() {
		if err := s.turn.Release(); err != nil {
			s.o.Log.Warn("another hub waits until the lease of this one is over", "error", err)
		}
	})
	return nil
}

// serveWhileWaiting begins to serve the listener, once.
func (s *Service) serveWhileWaiting(h http.Handler) {
	if s.served != nil {
		return
	}
	s.answer(h)
	s.served = make(chan error, 1)
	var work panics.Group
	work.Go(func() { s.served <- s.server.ServeTLS(s.listener, "", "") })
	s.closing = append(s.closing, func() {
		_ = s.server.Close()
		work.Wait()
	})
}
