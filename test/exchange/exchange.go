package exchange

import (
	"errors"
	"fmt"
	"slices"
)

// Limits of a file, which is untrusted input.
const (
	maxLine  = 1024
	maxSteps = 100_000
	maxBytes = 16 << 20 // of all steps together
	maxConns = 4096     // of a relay or a file
	rowBytes = 40       // of a written line
)

// From is the end that took a step.
type From byte

// The ends.
const (
	Client From = '>'
	Server From = '<'
)

// Kind is the kind of a step.
type Kind string

// Kinds of steps.
const (
	Open  Kind = "open"  // the client opened the connection
	Bytes Kind = "bytes" // recorded completely
	More  Kind = "more"  // bytes that were counted, not recorded
	End   Kind = "end"   // this end sends no more
	Reset Kind = "reset" // the connection was reset
)

// Step is one event on one connection.
type Step struct {
	Conn    int // from 1, in the order of opening
	From    From
	Kind    Kind
	Network string // of Open: tcp or udp
	Port    int    // of Open: the server's
	Bytes   []byte
	N       int64 // of More: number of bytes
}

// Exchange is a recording: all steps in order.
type Exchange struct {
	Notes []string
	Steps []Step
}

var (
	errOrder = errors.New("a step of a connection that was not opened, or was opened before")
	errEnded = errors.New("a step after the end")
)

// check checks that the sequence of steps is valid.
func (x *Exchange) check() error {
	type end struct {
		conn int
		from From
	}
	opened, over := 0, map[end]bool{}
	for i, s := range x.Steps {
		switch {
		case s.Kind == Open && (s.Conn != opened+1 || s.Conn > maxConns || s.From != Client):
			return fmt.Errorf("step %d: %w", i+1, errOrder)
		case s.Kind == Open:
			opened++
		case s.Conn < 1 || s.Conn > opened:
			return fmt.Errorf("step %d: %w", i+1, errOrder)
		case over[end{s.Conn, s.From}]:
			return fmt.Errorf("step %d: %w", i+1, errEnded)
		case s.Kind == End:
			over[end{s.Conn, s.From}] = true
		case s.Kind == Reset:
			over[end{s.Conn, Client}], over[end{s.Conn, Server}] = true, true
		}
	}
	return nil
}

// datagrams reports whether the connection of that number carries datagrams.
func (x *Exchange) datagrams(conn int) bool {
	i := slices.IndexFunc(x.Steps, func(s Step) bool { return s.Conn == conn && s.Kind == Open })
	return i >= 0 && x.Steps[i].Network == "udp"
}

// add appends a step. The boundaries of a stream's reads have no meaning, so bytes that
// follow each other directly become one step, as do bytes that are only counted, even with
// steps of other connections between them.
func (x *Exchange) add(s Step) {
	if s.Kind == Bytes && len(x.Steps) > 0 && !x.datagrams(s.Conn) {
		if last := &x.Steps[len(x.Steps)-1]; last.Conn == s.Conn && last.From == s.From && last.Kind == Bytes {
			last.Bytes = append(last.Bytes, s.Bytes...)
			return
		}
	}
	for i := len(x.Steps) - 1; i >= 0 && s.Kind == More; i-- {
		last := &x.Steps[i]
		if last.Conn == s.Conn && last.From == s.From {
			if last.Kind != More {
				break
			}
			last.N += s.N
			return
		}
	}
	s.Bytes = slices.Clone(s.Bytes)
	x.Steps = append(x.Steps, s)
}
