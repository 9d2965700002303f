package native

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Info is the body of GET /v1/info.
type Info struct {
	Name     string         `json:"name"` // "soku"
	Version  string         `json:"version"`
	Protocol string         `json:"protocol"`
	Tests    []measure.Test `json:"tests"`
	Limits   Limits         `json:"limits"`
	Running  int            `json:"running"`
	Queue    int            `json:"queue"`
	// Copies is nil for a server that does not report it.
	Copies *bool `json:"copies,omitempty"` // it has a folder for files of copies
}

// Limits are a server's limits for one session. Zero is no limit.
type Limits struct {
	MaxClients  int              `json:"max_clients"`
	Exclusive   bool             `json:"exclusive"`
	MaxDuration measure.Duration `json:"max_duration_ns"`
	MaxRate     measure.Rate     `json:"max_rate_bps"`
}

// Queue is the body of GET /v1/queue: the sessions that measure and wait, in order.
type Queue struct {
	Running []QueueEntry `json:"running"`
	Waiting []QueueEntry `json:"waiting"`
}

// QueueEntry is one session as shown to other clients.
type QueueEntry struct {
	Client   string           `json:"client"` // address
	Test     measure.Test     `json:"test"`
	Position int              `json:"position,omitempty"` // from 1; waiting sessions only
	Age      measure.Duration `json:"age_ns"`             // since the session was created
	Rate     measure.Rate     `json:"rate_bps,omitempty"` // of the last second or interval, both directions together, or 0 if it is unknown
}

// CreateRequest is the body of POST /v1/sessions.
type CreateRequest struct {
	Test    measure.Test    `json:"test"`
	Options measure.Options `json:"options"`
	// Findings: the client reads findings. A client of an earlier version does not set
	// it, and gets sentences.
	Findings bool `json:"findings,omitempty"`
	// ResumeFiles: the client can replace connections that were cut, and goes on with the file
	// that was cut.
	ResumeFiles bool `json:"resume_files,omitempty"`
}

// Created is the answer to a [CreateRequest].
type Created struct {
	ID        string           `json:"id"`
	Key       Key              `json:"key"`
	ResumeKey *Key             `json:"resume_key,omitempty"` // proves a [Resume]; nil: the server takes none for the session
	State     string           `json:"state"`                // "ready" or "queued"
	Position  int              `json:"position,omitempty"`
	Options   measure.Options  `json:"options"` // as the server allows them
	Findings  measure.Findings `json:"findings,omitempty"`
	Warnings  []string         `json:"warnings,omitempty"` // the findings as sentences, of or for an end of an earlier version
	Server    *measure.Host    `json:"server"`             // without counters: nothing has been measured yet
}

// Failure is the body of every response that is not a success.
type Failure struct {
	Error *measure.Error `json:"error"`
}

// Names of events.
const (
	EventQueued   = "queued"
	EventReady    = "ready"
	EventRunning  = "running"
	EventInterval = "interval"
	EventDone     = "done"
	EventAborted  = "aborted"
	EventAlive    = "alive" // no event; the server is alive
)

// Event is one line of an events stream. A client ignores events whose name it
// does not know.
type Event struct {
	Event    string            `json:"event"`
	Position int               `json:"position,omitempty"`
	Port     uint16            `json:"port,omitempty"` // of a connect test, in the event ready
	Interval *measure.Progress `json:"interval,omitempty"`
	End      *measure.End      `json:"end,omitempty"`
	Error    *measure.Error    `json:"error,omitempty"`
}

// Last reports whether no event follows e.
func (e *Event) Last() bool { return e.Event == EventDone || e.Event == EventAborted }

var (
	errLongEvent  = errors.New("a line of the events stream is too long")
	errManyValues = errors.New("a line of the events stream has too many values")
	errEvent      = errors.New("a line of the events stream is not an event")
)

// ReadEvent reads one line of at most [MaxEvent] bytes and most values (see
// [measure.MostValues]). Memory grows with the bytes received, not with a promised length. Texts
// are made printable, see package printable.
func ReadEvent(r *bufio.Reader, most func() int) (*Event, error) {
	line, err := readLine(r, MaxEvent)
	if err != nil {
		return nil, err
	}
	if measure.JSONValues(line, 0) > most() {
		return nil, errManyValues
	}
	e := &Event{}
	if json.Unmarshal(line, e) != nil || e.Event == "" ||
		e.Event == EventInterval && e.Interval == nil ||
		e.Event == EventDone && e.End == nil ||
		e.Event == EventAborted && e.Error == nil {
		return nil, errEvent
	}
	printable.Strings(e, mostText)
	return e, nil
}

func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongEvent
		}
		switch {
		case err == nil && line == nil:
			return part, nil
		case err == nil:
			return append(line, part...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		default:
			return nil, err
		}
	}
}

// DecodeBody reads one JSON value of at most limit bytes into v; bytes after
// the value are an error. Members that v does not have are ignored, because a
// newer peer may send them. Texts are made printable, see package printable.
func DecodeBody(r io.Reader, limit int64, v any) error {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > limit {
		return errTooLong
	}
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	printable.Strings(v, mostText)
	return nil
}
