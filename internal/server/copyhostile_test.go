package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/wire/native"
)

// rawCopy is a started copy of one file from memory over one connection, by hand.
func (r *running) rawCopy(resume bool) *raw {
	r.t.Helper()
	x := &raw{t: r.t, addr: r.addr, tls: r.tls}
	x.conn = x.control()
	x.in = bufio.NewReader(x.conn)
	o := copyOptions(r.t, func(own *filecopy.Options) { own.Files, own.FileSize, own.Stage = 1, 1<<20, measure.StageNetwork })
	o.Streams = 1
	body, _ := json.Marshal(native.CreateRequest{Test: measure.TestCopy, Options: o, ResumeFiles: resume})
	response := x.ask(x.conn, x.in, http.MethodPost, native.SessionsPath, string(body))
	if err := native.DecodeBody(response.Body, native.MaxReply, &x.created); err != nil || response.StatusCode != http.StatusCreated {
		r.t.Fatalf("create: %d, %v", response.StatusCode, err)
	}
	x.attach()
	x.open(0)
	x.start()
	return x
}

// resume asks to go on with a connection, and returns the whole answer.
func (x *raw) resume(index int, r native.Resume, key native.Key) []byte {
	x.t.Helper()
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	p := native.Preamble{Version: native.Version, Kind: native.KindResume, Index: uint16(index), Key: x.created.Key}
	_, _ = c.Write(p.AppendResume(nil, r, key))
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	b := make([]byte, native.ResumeAnswerSize)
	n, err := io.ReadFull(c, b)
	if n > 0 && native.Status(b[0]) == native.StatusOK && err != nil || err != nil && n > 1 {
		x.t.Fatalf("answered % x, %v", b[:n], err)
	}
	return b[:n]
}

func TestAServerGoesOnWithACopyOnlyForItsClient(t *testing.T) {
	x := serve(t, Config{}).rawCopy(true)
	if x.created.ResumeKey == nil || *x.created.ResumeKey == x.created.Key {
		t.Fatal("the server gives no key of its own for resuming")
	}
	key := *x.created.ResumeKey
	// docs/protocol.md: stage network with one file, its frame, and 10 bytes of it.
	begin := []byte{1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0}
	file := []byte{2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0}
	if _, err := x.data[0].Write(append(append(begin, file...), make([]byte, 10)...)); err != nil {
		t.Fatal(err)
	}
	at := func(attempt uint64) native.Resume { return native.Resume{Attempt: attempt} }
	if got := x.resume(0, at(1), x.created.Key); len(got) != 0 {
		t.Errorf("with a proof by another key the answer is % x", got)
	}
	if got := x.resume(1, at(1), key); len(got) != 1 || native.Status(got[0]) != native.StatusRefused {
		t.Errorf("of an index that is none: % x", got)
	}
	// Attempts are refused until the engine runs, which the answer to start does not await.
	attempt, got := uint64(100), []byte(nil)
	eventually(t, prompt, "the engine takes no connection", func() bool {
		attempt++
		got = x.resume(0, at(attempt), key)
		return len(got) == native.ResumeAnswerSize
	})
	for range 2 {
		if s, ok := native.ParseResumeAnswer(got); !ok || s.Stages != 0 || s.Items != 0 {
			t.Errorf("the server has %+v of a file that was cut: % x", s, got)
		}
		attempt++
		got = x.resume(0, at(attempt), key)
	}
	if got := x.resume(0, at(attempt), key); len(got) != 1 || native.Status(got[0]) != native.StatusRefused {
		t.Errorf("of an attempt that somebody read on the path: % x", got)
	}
	_ = x.conn.(*net.TCPConn).CloseWrite() // with events unread, a close would be a reset
	eventually(t, prompt, "the session does not end with its control connection", func() bool { return len(x.resume(0, at(2e6), key)) == 0 })
}

// Clients of earlier versions ask to resume at a byte, or not at all.
func TestAClientThatResumesAtAByteCopiesWithoutResuming(t *testing.T) {
	r := serve(t, Config{})
	o, _ := json.Marshal(copyOptions(t, func(own *filecopy.Options) { own.Stage = measure.StageNetwork }))
	x := &raw{t: t, addr: r.addr}
	x.conn = x.control()
	x.in = bufio.NewReader(x.conn)
	response := x.ask(x.conn, x.in, http.MethodPost, native.SessionsPath, `{"test": "copy", "resume": true, "options": `+string(o)+`}`)
	if err := native.DecodeBody(response.Body, native.MaxReply, &x.created); err != nil || response.StatusCode != http.StatusCreated || x.created.ResumeKey != nil {
		t.Errorf("%d, %v, resume key %v", response.StatusCode, err, x.created.ResumeKey)
	}
}

// A client of an earlier version ends as it did.
func TestWithoutResumingACutEndsACopy(t *testing.T) {
	x := serve(t, Config{}).rawCopy(false)
	if x.created.ResumeKey != nil {
		t.Error("a client that did not ask has a key for resuming")
	}
	if got := x.resume(0, native.Resume{Attempt: 1}, native.Key{}); len(got) != 0 {
		t.Errorf("% x", got)
	}
	_ = x.data[0].(*net.TCPConn).SetLinger(0)
	_ = x.data[0].Close()
	if e := x.last(); e.End == nil || e.End.Error == nil || e.End.Error.Code != "copy.receive" {
		t.Errorf("%+v", e)
	}
}
