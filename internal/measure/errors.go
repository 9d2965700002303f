package measure

import (
	"errors"
	"fmt"
	"strings"
)

// Kind sorts failures by what the person at the keyboard can do about them.
// Each kind has one documented exit status (docs/reference/exit-codes.md).
type Kind string

// Kinds of failure.
const (
	KindInternal    Kind = "internal"    // a defect in soku, or an operating system failure nobody foresaw
	KindUsage       Kind = "usage"       // a wrong flag, argument, unit or combination
	KindFile        Kind = "file"        // a plan, topology or document that does not parse or hold together
	KindUnreachable Kind = "unreachable" // no address, no route, refused, or no answer in time
	KindRefused     Kind = "refused"     // the far end answered and said no: busy, limits, authentication
	KindBroken      Kind = "broken"      // the trial began and did not finish: peer gone, connection reset
	KindStore       Kind = "store"       // the store or journal cannot be read or written
	KindPermission  Kind = "permission"  // the operating system wants more rights
	KindNotFound    Kind = "not_found"   // no such result, campaign or lab
	KindIncomplete  Kind = "incomplete"  // a campaign ended with failed trials
	KindInterrupted Kind = "interrupted" // stopped by a signal
)

// Error is a failure as a person reads it: one sentence that says what was
// being done and to what, and a hint that says what to do next.
// It is also the "error" member of a result document.
type Error struct {
	Kind    Kind   `json:"kind" jsonschema:"description=Class of the failure; see the exit codes"`
	Message string `json:"message" jsonschema:"description=What was being done, to what, and what went wrong"`
	Hint    string `json:"hint,omitempty" jsonschema:"description=What to do next"`

	cause error
}

// Errorf makes an Error; %w wraps a cause for errors.Is and errors.As.
func Errorf(kind Kind, format string, args ...any) *Error {
	e := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: e.Error(), cause: errors.Unwrap(e)}
}

// WithHint returns e with its hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithCause returns e with a cause for errors.Is and errors.As, of which its text says
// nothing.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// Error is "message (hint)" on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.cause }

// AsError returns err as an *Error: the one inside it, or a new one of the
// given kind that carries err's text. It returns nil for nil.
func AsError(err error, kind Kind) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: kind, Message: err.Error(), cause: err}
}

// KindOf returns the kind of the *Error inside err, or KindInternal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

func list[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
