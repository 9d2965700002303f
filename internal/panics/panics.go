// Package panics carries a panic from the goroutine in which it happened to the one that waits
// for that goroutine, so that a caller decides what ends with it: a server ends one session, a
// command the program. It does not log and it starts no goroutines but those of a [Group].
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Error is a panic that was recovered.
type Error struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error returns the value and the stack: if nothing recovers the panic that [Group.Wait]
// raises, the runtime prints this text.
func (e *Error) Error() string { return fmt.Sprintf("%v\n\n%s", e.Value, e.Stack) }

// Catch runs f and returns its panic, or nil if it returned.
func Catch(f func()) (caught *Error) {
	defer func() {
		if value := recover(); value != nil {
			caught = From(value)
		}
	}()
	f()
	return nil
}

// Run runs f and returns its error, or its panic as an [*Error].
func Run(f func() error) (err error) {
	if e := Catch(func() { err = f() }); e != nil {
		return e
	}
	return err
}

// From returns the error of a value that the caller has just recovered. The value of a panic
// that was raised again keeps its stack.
func From(value any) *Error {
	if e, ok := value.(*Error); ok {
		return e
	}
	return &Error{value, debug.Stack()}
}

// Raise panics if err is a recovered panic.
func Raise(err error) {
	var e *Error
	if errors.As(err, &e) {
		panic(e)
	}
}

// Group is a [sync.WaitGroup] whose Wait raises the first panic of its goroutines.
type Group struct {
	// Stop makes the other goroutines return. It is called once, from the goroutine that
	// panicked. It may be nil if they end on their own. Set it before the first Go.
	Stop func()

	all   sync.WaitGroup
	first atomic.Pointer[Error]
}

// Go runs f in a goroutine of its own.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		if e := Catch(f); e != nil && g.first.CompareAndSwap(nil, e) && g.Stop != nil {
			g.Stop()
		}
	})
}

// Wait waits for all goroutines, and panics with an [*Error] if one of them did.
func (g *Group) Wait() {
	g.all.Wait()
	if e := g.first.Load(); e != nil {
		panic(e)
	}
}
