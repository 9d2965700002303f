package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/text"
	"soku/internal/wire/native"
)

// info answers GET /v1/info.
func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	running, waiting := s.queue.snapshot()
	copies := s.cfg.CopyRoot != nil
	reply(w, http.StatusOK, native.Info{
		Name: "soku", Version: s.cfg.Version, Protocol: native.Name, Tests: served(),
		Limits: s.limits(), Running: len(running), Queue: len(waiting), Copies: &copies,
	})
}

// served are those that have a server's side.
func served() []measure.Test {
	var out []measure.Test
	for _, t := range measure.Tests() {
		if option.HasServer(t) {
			out = append(out, t)
		}
	}
	return out
}

// showQueue answers GET /v1/queue.
func (s *Server) showQueue(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.Queue())
}

// Queue returns the sessions that measure and wait, in order of arrival.
func (s *Server) Queue() native.Queue {
	running, waiting := s.queue.snapshot()
	q := native.Queue{Running: []native.QueueEntry{}, Waiting: []native.QueueEntry{}}
	for _, x := range running {
		q.Running = append(q.Running, x.shown())
	}
	for i, x := range waiting {
		e := x.shown()
		e.Position = i + 1
		q.Waiting = append(q.Waiting, e)
	}
	return q
}

// create answers POST /v1/sessions.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	// A web page cannot send this type to another site without being asked first.
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, measure.KindUsage, "server.request.type", nil)
		return
	}
	var request native.CreateRequest
	if err := native.DecodeBody(r.Body, native.MaxBody, &request); err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			fail(w, http.StatusRequestEntityTooLarge, measure.KindUsage, "server.request.long", measure.Figures{"limit_bytes": native.MaxBody})
			return
		}
		fail(w, http.StatusBadRequest, measure.KindUsage, "server.request.syntax", measure.Figures{"cause": err})
		return
	}
	ss, position, err := s.admit(r, request)
	if err != nil {
		e := measure.AsError(err, measure.KindInternal)
		answerError(w, statusOf(e), e)
		return
	}
	created := native.Created{
		ID: ss.id, Key: ss.key, State: native.EventReady, Position: position,
		Options: ss.options, Findings: ss.findings, Server: ss.host,
	}
	if ss.resumes != nil {
		created.ResumeKey = &ss.resumes.key
	}
	if ss.prose {
		created.Warnings = text.ForPrograms().Findings(ss.findings)
	}
	if position > 0 {
		created.State = native.EventQueued
	}
	reply(w, http.StatusCreated, created)
}

// admit checks the request, enters the session and starts the goroutine that
// leads it.
func (s *Server) admit(r *http.Request, request native.CreateRequest) (*session, int, error) {
	if _, err := measure.ParseTest(string(request.Test)); err != nil {
		return nil, 0, err
	}
	if !option.HasServer(request.Test) {
		return nil, 0, measure.Fail(measure.KindUsage, "server.test_alone", measure.Figures{"test": request.Test})
	}
	options, findings, err := s.permit(request.Test, request.Options)
	if err != nil {
		return nil, 0, err
	}
	ss, err := newSession(s.base)
	if err != nil {
		return nil, 0, err
	}
	ss.test, ss.options, ss.findings, ss.prose = request.Test, options, findings, !request.Findings
	if request.ResumeFiles && option.SpecOf(ss.test).Resumes {
		if ss.resumes, err = newResumes(); err != nil {
			return nil, 0, err
		}
	}
	ss.client, ss.local, ss.creator = clientOf(r), localOf(r), connOf(r).gone
	ss.host = &measure.Host{Facts: s.facts.get(s.base, ss.local)}
	ss.expect()
	position, err := s.enterReserved(ss, func() *measure.Error {
		refused := s.access(r, &Wanted{Test: request.Test, Options: request.Options})
		if refused != nil {
			s.refusals.log(s.log, ss.client.Addr(), refused)
		}
		return refused
	})
	if err != nil {
		ss.abort(measure.Fail(measure.KindBroken, "server.session.over", nil))
		return nil, 0, err
	}
	return ss, position, nil
}

// enterReserved is enter for a session whose data connections this process can hold, and that access does not
// refuse. One that waits reserves nothing until its turn: it may wait for as long as it likes.
func (s *Server) enterReserved(ss *session, access func() *measure.Error) (position int, err error) {
	if err := s.reserve(ss); err != nil {
		return 0, err
	}
	if refused := access(); refused != nil {
		ss.giveBack()
		return 0, refused
	}
	if s.cfg.Exclusive {
		ss.giveBack()
	}
	if position, err = s.enter(ss); err != nil {
		ss.giveBack()
	}
	return position, err
}

// enter registers ss, asks for its turn, and leads it on a goroutine that Serve
// waits for.
func (s *Server) enter(ss *session) (position int, err error) {
	if err := s.sessions.add(ss, &s.live); err != nil {
		return 0, err
	}
	position, err = s.queue.enter(ss)
	if err != nil {
		s.sessions.remove(ss)
		s.live.Done()
		return 0, err
	}
	go func() {
		defer s.live.Done()
		s.lead(ss)
	}()
	return position, nil
}

// find returns the session of a request, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *session {
	ss := s.sessions.id(r.PathValue("id"))
	if ss == nil {
		fail(w, http.StatusNotFound, measure.KindNotFound, "server.session.unknown", nil)
	}
	return ss
}

// start answers POST /v1/sessions/{id}/start when the engines run.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	ss := s.find(w, r)
	if ss == nil {
		return
	}
	if !ss.complete.fired() {
		fail(w, http.StatusConflict, measure.KindUsage, "server.session.not_ready", nil)
		return
	}
	if !ss.started.fire() {
		fail(w, http.StatusConflict, measure.KindUsage, "server.session.started", nil)
		return
	}
	select {
	case <-ss.running.ch:
		reply(w, http.StatusOK, struct{}{})
	case <-ss.gone.ch:
		answerError(w, http.StatusConflict, measure.AsError(context.Cause(ss.ctx), measure.KindBroken))
	case <-r.Context().Done():
	}
}

// finish answers POST /v1/sessions/{id}/finish.
func (s *Server) finish(w http.ResponseWriter, r *http.Request) {
	ss := s.find(w, r)
	if ss == nil {
		return
	}
	if !ss.running.fired() {
		fail(w, http.StatusConflict, measure.KindUsage, "server.session.idle", nil)
		return
	}
	ss.finished.fire()
	reply(w, http.StatusOK, struct{}{})
}

// end answers DELETE /v1/sessions/{id} when everything of it is freed.
func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	ss := s.find(w, r)
	if ss == nil {
		return
	}
	ss.abort(measure.Fail(measure.KindBroken, "server.session.deleted", nil))
	select {
	case <-ss.gone.ch:
	case <-r.Context().Done():
	}
	w.WriteHeader(http.StatusNoContent)
}

// stream writes events as lines, and gives up on a client that takes none of
// the bytes for [native.Silence].
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

func (st *stream) send(e native.Event) error {
	line, err := json.Marshal(e)
	if err == nil && len(line) >= native.MaxEvent && e.End != nil {
		e = withoutDetail(e)
		line, err = json.Marshal(e)
	}
	if err != nil {
		return err
	}
	line = append(line, '\n')
	const piece = 64 << 10
	for len(line) > 0 {
		n := min(len(line), piece)
		_ = st.control.SetWriteDeadline(time.Now().Add(native.Silence))
		if _, err := st.w.Write(line[:n]); err != nil {
			return err
		}
		line = line[n:]
	}
	return nil
}

func (st *stream) flush() error {
	_ = st.control.SetWriteDeadline(time.Now().Add(native.Silence))
	return st.control.Flush()
}

// withoutDetail leaves out the samples of single streams and the series of the host, so that the half of a
// very long test with very many streams still fits a line.
func withoutDetail(e native.Event) native.Event {
	end := *e.End
	if end.Host != nil {
		host := *end.Host
		host.Series, end.Host = nil, &host
	}
	end.Flows = append([]measure.FlowEnd(nil), end.Flows...)
	for i, f := range end.Flows {
		end.Flows[i].Streams = append([]measure.Stream(nil), f.Streams...)
		for j := range f.Streams {
			end.Flows[i].Streams[j].Samples = nil
		}
	}
	end.Findings = slices.Clone(end.Findings)
	end.Findings.Add(finding.StreamSamplesLeftOut, measure.AtServer, nil)
	if end.Warnings != nil { // it has been put in words
		putInWords(&end)
	}
	e.End = &end
	return e
}

// statusOf is the HTTP status for an error of the control API.
func statusOf(e *measure.Error) int {
	switch e.Kind {
	case measure.KindUsage:
		return http.StatusBadRequest
	case measure.KindRefused, measure.KindBroken:
		return http.StatusServiceUnavailable
	case measure.KindNotFound:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}
