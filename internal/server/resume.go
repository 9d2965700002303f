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

// resumes passes the connections by which a client replaces those that were cut to the engine.
type resumes struct {
	key native.Key

	mu       sync.Mutex
	attempts map[int]uint64 // the highest of each index

	running sync.RWMutex // held for reading in calls of take
	take    engine.Take  // nil: the engine does not run
}

func newResumes() (*resumes, error) {
	r := &resumes{attempts: map[int]uint64{}}
	if _, err := rand.Read(r.key[:]); err != nil {
		return nil, measure.Fail(measure.KindInternal, "server.random", measure.Figures{"cause": err})
	}
	return r, nil
}

// reconnect is for the engine of the session; nil if its client cannot replace connections.
func (r *resumes) reconnect(finished *latch) *engine.Reconnect {
	if r == nil {
		return nil
	}
	set := func(take engine.Take) {
		r.running.Lock()
		defer r.running.Unlock()
		r.take = take
	}
	return &engine.Reconnect{Finished: finished.ch, Take: func(take engine.Take) func() {
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
	return r.take(index, c, engine.Progress{Stages: int(far.Stages), Items: int(far.Items), Cut: time.Duration(far.CutNs)}, func(own engine.Progress) error {
		state := native.ResumeState{Stages: uint32(own.Stages), Items: uint32(own.Items), CutNs: int64(own.Cut)}
		_, err := c.Write(state.AppendAnswer(nil)) // within the deadline of the preamble
		if err == nil {
			err = c.SetDeadline(time.Time{})
		}
		return err
	})
}

// hold makes the end of the session close c. It returns false if the session has ended.
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
