package server

import (
	"net/http"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// events answers GET /v1/sessions/{id}/events. The session ends with this connection, unless its
// client can reattach.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	ss := s.find(w, r)
	if ss == nil {
		return
	}
	c := connOf(r)
	read, again := s.attach(ss, c)
	if read == nil {
		fail(w, http.StatusConflict, measure.KindUsage, "server.session.read", nil)
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
			if out.send(e) != nil || e.Last() {
				return
			}
			if e.Event == native.EventRunning && ss.sampled.Load() {
				heartbeat.Reset(min(s.times.heartbeat, native.Probe))
			}
		}
		// The first header waits for the first event, which follows immediately: one wake-up of
		// the client less.
		if (len(events) > 0 || again) && out.flush() != nil {
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

// attach makes c carry the events of a session, or returns nil. After the first connection, a
// running session whose client can reattach accepts others. Each replaces the one before, which
// the client has left whether this end has noticed that or not. The id is the proof: it opens all
// of the session's control, and like the resume key it is sent on control connections alone.
func (s *Server) attach(ss *session, c *controlConn) (read *reader, again bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.attached.fire() {
		ss.stream = c
		ss.control.Store(c.TCPConn)
		return ss.out.open(), false
	}
	if !ss.survives() {
		return nil, false
	}
	if ss.stream != nil {
		ss.stream.reset()
	}
	if ss.back != nil {
		ss.away.Stop()
		ss.back.fire()
	}
	ss.stream, ss.back = c, nil
	s.log.Info("events reattached", "session", ss.name(), "client", c.RemoteAddr())
	return ss.out.open(), true
}

// survives reports whether the session outlives the loss of the connection of its events.
func (ss *session) survives() bool { return ss.resumes != nil && ss.running.fired() }

// awaitReattach waits until a connection carries the events of a session, or the session ends.
func (ss *session) awaitReattach() {
	ss.mu.Lock()
	back := ss.back
	ss.mu.Unlock()
	if back == nil {
		return
	}
	select {
	case <-back.ch:
	case <-ss.ctx.Done():
	}
}

// maxAway is how many sessions of an address wait for their clients to reattach. Further ones end.
const maxAway = 4

// isAway reports whether the session waits for its client to reattach.
func (ss *session) isAway() bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.back != nil
}

// detach is called when the connection c of the events has ended.
func (s *Server) detach(ss *session, c *controlConn) {
	defer s.queue.lost()
	s.detaching.Lock() // sessions that lose their clients at the same time count each other
	defer s.detaching.Unlock()
	waits := ss.survives() && ss.ctx.Err() == nil && !c.leftInOrder() && s.sessions.away(ss.client.Addr()) < maxAway
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.stream != c {
		return // another one carries them
	}
	ss.stream = nil
	end := func() { ss.abort(measure.Fail(measure.KindBroken, "server.client_gone", nil)) } // no change once the session is over
	switch {
	case !waits:
		end()
	case !ss.ended:
		ss.away, ss.back = time.AfterFunc(s.times.reattach, end), newLatch()
		s.log.Info("events connection cut", "session", ss.name(), "client", c.RemoteAddr())
	}
}
