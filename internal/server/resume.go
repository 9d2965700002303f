package server

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/wire/native"
)

// resumes takes the data connections that the client of a session opens again.
type resumes struct {
	key native.Key

	mu       sync.Mutex
	attempts map[int]uint64 // the highest of each index

	running sync.RWMutex // held for reading in calls of take
	take    func(index int, c *net.TCPConn, far engine.Progress, answer func(engine.Progress) error) error
}

func newResumes() (*resumes, error) {
	r := &resumes{attempts: map[int]uint64{}}
	if _, err := rand.Read(r.key[:]); err != nil {
		return nil, measure.Fail(measure.KindInternal, "server.random", measure.Figures{"cause": err})
	}
	return r, nil
}

// reconnect is for the engine of the session, whose client learns of cuts through its events;
// nil for a session whose client cannot open connections again.
func (r *resumes) reconnect(ss *session) *engine.Reconnect {
	if r == nil {
		return nil
	}
	set := func(take func(int, *net.TCPConn, engine.Progress, func(engine.Progress) error) error) {
		r.running.Lock()
		defer r.running.Unlock()
		r.take = take
	}
	lost := func(index int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		ss.out.cut(index, r.attempts[index])
	}
	return &engine.Reconnect{Lost: lost, Finished: ss.finished.ch, Take: func(take func(int, *net.TCPConn, engine.Progress, func(engine.Progress) error) error) func() {
		set(take)
		return func() { set(nil) }
	}}
}

// first reports whether an attempt is later than all others for its index: an attempt that
// somebody read on the path is of no use to them.
func (r *resumes) first(index int, attempt uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if attempt <= r.attempts[index] {
		return false
	}
	r.attempts[index] = attempt
	return true
}

var errNotRunning = errors.New("the session's engine does not run")

// resume gives c, whose preamble was read, to the engine of its session in place of the
// connection of that index. It reports whether c is kept. What is not proven is closed
// without an answer, like an unknown key.
func (s *Server) resume(c *net.TCPConn, ss *session, index int, preamble []byte) (kept bool) {
	b := append(slices.Clip(preamble), make([]byte, native.ResumeSize)...)
	if _, err := io.ReadFull(c, b[len(preamble):]); err != nil || ss.resumes == nil {
		return false
	}
	request, proven := native.ParseResume(b, ss.resumes.key)
	if !proven {
		return false
	}
	if index >= len(ss.tcp) || !ss.resumes.first(index, request.Attempt) {
		answer(c, native.StatusRefused)
		return false
	}
	// From here on the session closes it.
	s.unclassified.release(c)
	if !ss.hold(c) {
		return false
	}
	err := ss.resumes.give(index, c, request.ResumeState)
	if err != nil {
		ss.drop(c)
		answer(c, native.StatusRefused)
	}
	s.log.Info("data connection opened again", "session", ss.name(), "client", c.RemoteAddr(), "connection", index, "accepted", err == nil)
	return err == nil
}

// give passes c to the engine.
func (r *resumes) give(index int, c *net.TCPConn, far native.ResumeState) error {
	r.running.RLock()
	defer r.running.RUnlock()
	if r.take == nil {
		return errNotRunning
	}
	return r.take(index, c, engine.Progress{Received: far.Received, Cut: time.Duration(far.CutNs)}, func(own engine.Progress) error {
		state := native.ResumeState{Received: own.Received, CutNs: int64(own.Cut)}
		_, err := c.Write(state.AppendAnswer(nil)) // within the deadline of the preamble
		if err == nil {
			err = c.SetDeadline(time.Time{})
		}
		return err
	})
}

// hold makes the end of the session close c; false if it has ended.
func (ss *session) hold(c *net.TCPConn) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if !ss.ended {
		ss.resumed = append(ss.resumed, c)
	}
	return !ss.ended
}

func (ss *session) drop(c *net.TCPConn) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.resumed = slices.DeleteFunc(ss.resumed, func(other *net.TCPConn) bool { return other == c })
}
