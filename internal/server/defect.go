package server

import (
	"errors"
	"fmt"
	"log/slog"

	"soku/internal/measure"
	"soku/internal/panics"
)

// Guard runs f for one client, so that a defect ends what this client has and not the server. A
// panic of f, or of a goroutine that f waits for by a [panics.Group], is logged with its stack
// and with about, as attributes, and is returned as an error of kind internal.
func Guard(log *slog.Logger, f func() error, about ...any) error {
	err := panics.Run(f)
	var e *panics.Error
	if !errors.As(err, &e) {
		return err
	}
	log.Error("internal error", append(about, "panic", fmt.Sprint(e.Value), "stack", string(e.Stack))...)
	return measure.Fail(measure.KindInternal, "server.defect", nil)
}

// guardLoop is Guard for a loop that serves all clients: it goes on after a panic.
func guardLoop(log *slog.Logger, loop func() error) (err error) {
	for again := true; again; {
		again = Guard(log, func() error { err = loop(); return nil }) != nil
	}
	return err
}
