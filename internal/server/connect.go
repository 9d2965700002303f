package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine/connect"
	"soku/internal/measure"
)

// connectBytes is what setting up and closing a connection moves in one
// direction, headers of IPv6 and Ethernet included: what --max-rate takes a
// connection for, beside its request.
const connectBytes = 400

// openEntry opens a connect test's own port, at the address that the client
// came to and for the client's addresses only. A session without one takes
// connections on the server's port alone.
func (s *Server) openEntry(ss *session) (port int, err error) {
	if ss.test != measure.TestConnect {
		return 0, nil
	}
	if ss.options.Entry == "main" {
		ss.entry.Store(connect.Portless(ss.options))
		return 0, nil
	}
	l, err := s.engines.listen(ss.local, s.peers(ss), ss.options)
	ss.entry.Store(l)
	if err != nil {
		s.log.Warn("open a port for a connect test", "session", ss.name(), "error", err)
		if ss.options.Entry == "session" {
			return 0, err
		}
	}
	return l.Port(), nil
}

// peers are the addresses a connect test may connect from.
func (s *Server) peers(ss *session) []netip.Addr {
	out := []netip.Addr{ss.client.Addr()}
	if ss.options.Sources != "" {
		more, _ := measure.ParseSources(ss.options.Sources) // checked with the options
		for _, a := range more {
			if s.allowed(a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// takeConnections counts until the client is finished.
func (s *Server) takeConnections(ctx context.Context, cancel context.CancelCauseFunc, ss *session, entry *connect.Listener, end *measure.End) error {
	var watcher sync.WaitGroup
	watcher.Go(func() { s.policeConnections(ctx, cancel, ss, entry) })
	end.Connect = entry.Serve(ctx, ss.pins)
	cancel(nil)
	watcher.Wait()
	if entry.OutOfFiles() {
		end.Findings.Add(measure.CodeFileDescriptorsRanOut, measure.AtServer, nil)
	}
	if n := end.Connect.ForeignConns; n > 0 {
		end.Findings.Add(measure.CodeForeignConnections, measure.AtServer, measure.Figures{"connections": n})
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errFinished):
		return nil
	case cause != nil:
		return cause
	}
	return nil
}

// policeConnections waits for the client to be finished, and ends a session
// that makes clearly more connections than the server allows.
func (s *Server) policeConnections(ctx context.Context, cancel context.CancelCauseFunc, ss *session, entry *connect.Listener) {
	begin := time.Now()
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ss.finished.ch:
			cancel(errFinished)
			return
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if s.cfg.MaxRate == 0 {
			continue
		}
		most := float64(s.cfg.MaxRate) / 8 / connectionCost(ss.options)
		if float64(entry.Accepted()) > 1.1*most*time.Since(begin).Seconds()+max(most, 1000) {
			cancel(measure.Errorf(measure.KindRefused, "the server ended the test: the client makes more than %.4g connections a second, the limit (--max-rate)", most).
				WithHint("use the same version of soku at both ends"))
			return
		}
	}
}

// connectionCost is how many bytes a connection counts against --max-rate.
func connectionCost(o measure.Options) float64 { return connectBytes + float64(o.Size) }

// slowConnections holds a connect test to the rate of the server: what has no
// rate of its own gets one.
func slowConnections(limit measure.Rate, o measure.Options) (measure.Options, measure.Findings) {
	most := float64(limit) / 8 / connectionCost(o)
	if o.RequestRate > 0 && o.RequestRate <= most {
		return o, nil
	}
	figures := measure.Figures{"connections_per_second": most, "limit_bps": limit}
	if o.RequestRate > 0 {
		figures["requested_per_second"] = o.RequestRate
	}
	o.RequestRate = most
	return o, measure.Findings{measure.NewFinding(measure.CodeServerLoweredConnections, measure.AtServer, figures)}
}

// serveConnection gives a connection of a connect test, whose preamble was
// read, to its session. Its client waits for this end to close.
func (s *Server) serveConnection(c *net.TCPConn, ss *session) {
	if l := ss.entry.Load(); l != nil {
		l.Take(c)
	}
	_ = c.Close()
}
