package server

import (
	"net/http"
	"strconv"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// events answers GET /v1/sessions/{id}/events. The session ends with this connection, unless its
// client can attach again.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	ss := s.find(w, r)
	if ss == nil {
		return
	}
	c := connOf(r)
	read := s.attach(w, r, ss, c)
	if read == nil {
		return
	}
	defer s.detach(ss, c)
	s.sessions.attached(ss)
	c.place.Pin() // it is the session's life
	defer c.place.MakeEvictable()
	out := &stream{w: w, control: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	heartbeat := time.NewTicker(s.times.heartbeat)
	defer heartbeat.Stop()
	for {
		events := ss.out.take(read)
		for _, e := range events {
			if out.send(e) != nil {
				return
			}
			if e.Last() {
				s.awaitRead(ss, c, out, r.Context().Done())
				return
			}
			if e.Event == native.EventRunning && ss.sampled.Load() {
				heartbeat.Reset(min(s.times.heartbeat, native.Probe))
			}
		}
		// The first header waits for the first event, which comes at once: one wake-up of
		// the client less.
		if (len(events) > 0 || read.again) && out.flush() != nil {
			return
		}
		select {
		case <-read.wake:
		case <-heartbeat.C:
			if out.send(native.Event{Event: native.EventAlive}) != nil || out.flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// attach makes c carry the events of a session, or answers why it does not. After the first
// connection, those of a client that can attach again are taken while the session runs, and
// until its last event is read. They replace the one before, which their client has left whether
// this end knows that or not. The id is the proof: it opens all of the session's control, and
// like the resume key it is sent on control connections alone.
func (s *Server) attach(w http.ResponseWriter, r *http.Request, ss *session, c *controlConn) *reader {
	query := r.URL.Query()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if !query.Has("after") || !ss.survives() {
		if !ss.attached.fire() {
			fail(w, http.StatusConflict, measure.KindUsage, "server.session.read", nil)
			return nil
		}
		ss.stream = c
		ss.control.Store(c.TCPConn)
		return ss.out.open()
	}
	after, err := strconv.ParseUint(query.Get("after"), 10, 31)
	if err != nil {
		fail(w, http.StatusBadRequest, measure.KindUsage, "server.session.after", nil)
		return nil
	}
	read := ss.out.openAfter(int(after))
	if read == nil {
		fail(w, http.StatusBadRequest, measure.KindUsage, "server.session.after", nil)
		return nil
	}
	if ss.stream != nil {
		ss.stream.reset()
	}
	if ss.away != nil {
		ss.away.Stop()
	}
	ss.stream, ss.away = c, nil
	s.log.Info("events attached again", "session", ss.name(), "client", c.RemoteAddr())
	return read
}

// survives reports whether the session outlives the loss of the connection of its events.
func (ss *session) survives() bool { return ss.resumes != nil && ss.running.fired() }

// awaitRead waits until the client, which has got the last event, closes its connection: a
// connection that breaks before may have lost it.
func (s *Server) awaitRead(ss *session, c *controlConn, out *stream, over <-chan struct{}) {
	if !ss.survives() || out.flush() != nil {
		return
	}
	c.place.MakeEvictable()
	select {
	case <-over:
	case <-ss.forgotten.ch:
	case <-s.base.Done():
	}
}

// detach is called when the connection c of the events has ended.
func (s *Server) detach(ss *session, c *controlConn) {
	waits := ss.survives() && !ss.forgotten.fired() && s.base.Err() == nil && !c.leftInOrder()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.stream != c {
		return // another one carries them
	}
	ss.stream = nil
	end := func() {
		s.sessions.forget(ss)
		// It changes nothing once the session is over.
		ss.abort(measure.Fail(measure.KindBroken, "server.client_gone", nil))
	}
	switch {
	case !waits:
		end()
	case !ss.ended:
		ss.away = time.AfterFunc(s.times.again, end)
		s.log.Info("events connection cut", "session", ss.name(), "client", c.RemoteAddr())
	}
}
