package server

import (
	"sync"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/wire/native"
)

// maxIntervals is how many live intervals wait for a client that reads slowly;
// more are left out, so that a slow reader holds up no engine and no memory.
const maxIntervals = 64

// outbox holds the events of a session until its stream takes them. Putting
// never waits.
type outbox struct {
	mu        sync.Mutex
	to        *reader // nil until there is one
	events    []native.Event
	intervals int
	closed    bool
}

// reader is the stream that takes the events, until a later one does.
type reader struct {
	wake chan struct{} // has one element when there may be something to take
}

func newOutbox() *outbox { return &outbox{} }

// open makes the result the reader of all events from now on.
func (o *outbox) open() *reader {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = &reader{wake: make(chan struct{}, 1)}
	return o.to
}

// queued reports the position; an older one that was not taken yet is dropped.
func (o *outbox) queued(position int) {
	e := native.Event{Event: native.EventQueued, Position: position}
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.events) - 1; last >= 0 && o.events[last].Event == native.EventQueued {
		o.events[last] = e
		return
	}
	o.put(e)
}

func (o *outbox) state(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(native.Event{Event: name})
}

// ready reports that it is the session's turn, and the port of a connect test.
func (o *outbox) ready(port int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(native.Event{Event: native.EventReady, Port: uint16(port)})
}

func (o *outbox) interval(p measure.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.intervals >= maxIntervals {
		return
	}
	o.intervals++
	o.put(native.Event{Event: native.EventInterval, Interval: &p})
}

// last puts the final event; what is put after it is dropped.
func (o *outbox) last(e native.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(e)
	o.closed = true
}

func (o *outbox) put(e native.Event) {
	if o.closed {
		return
	}
	o.events = append(o.events, e)
	if o.to == nil {
		return
	}
	select {
	case o.to.wake <- struct{}{}:
	default:
	}
}

// take empties the box for its reader; another one gets nothing.
func (o *outbox) take(by *reader) []native.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if by != o.to {
		return nil
	}
	events := o.events
	o.events, o.intervals = nil, 0
	return events
}

// putInWords adds to what this end counted the sentences that a client of an earlier
// version reads instead of findings and timings.
func putInWords(end *measure.End) {
	end.Warnings = text.ForPrograms().Findings(end.Findings)
	if end.Timing != nil {
		end.Method = text.ForPrograms().Timing(*end.Timing)
	}
}
