package measure

import (
	"errors"
	"maps"

	"soku/internal/text/messages"
)

// Kind sorts failures by what the person at the keyboard can do about them.
// Each kind has one documented exit status (docs/reference/exit-codes.md).
type Kind string

// Kinds of failure.
const (
	KindInternal    Kind = "internal"      // a defect in soku, or an unexpected failure of the operating system
	KindUsage       Kind = "usage"         // a wrong flag, argument, unit or combination
	KindFile        Kind = "file"          // a plan, topology or document that does not parse or hold together
	KindUnreachable Kind = "unreachable"   // no address, no route, refused, or no answer in time
	KindRefused     Kind = "refused"       // the far end answered and said no: busy, limits, authentication
	KindBroken      Kind = "broken"        // the trial began and did not finish: peer gone, connection reset
	KindStore       Kind = "store"         // the store or journal cannot be read or written
	KindPermission  Kind = "permission"    // the operating system wants more rights
	KindNotFound    Kind = "not_found"     // no such result, campaign or lab
	KindIncomplete  Kind = "incomplete"    // a campaign ended with failed trials
	KindNotHeld     Kind = "does_not_hold" // a rule of soku check does not hold, or soku doctor found a problem
	KindNotShown    Kind = "not_shown"     // a rule of soku check is neither shown to hold nor not to
	KindInterrupted Kind = "interrupted"   // stopped by a signal
)

// Error is a failure as data, with its English sentences: one that says what was being
// done and to what, and a hint that says what to do next. It is also the "error" member
// of a result document.
type Error struct {
	Kind    Kind    `json:"kind" jsonschema:"description=Class of the failure; see the exit codes"`
	Code    string  `json:"code,omitempty" jsonschema:"description=Code of the failure\\, the same for every failure of one kind; absent in documents of another program or an older soku"`
	Message string  `json:"message" jsonschema:"description=What was being done\\, to what\\, and the cause"`
	Hint    string  `json:"hint,omitempty" jsonschema:"description=What to do next"`
	Figures Figures `json:"figures,omitempty" jsonschema:"description=Figures of the sentence: numbers and texts; units are in the key"`
	// HintCode names the sentence of the hint where it is not that of the code.
	HintCode string `json:"hint_code,omitempty" jsonschema:"description=What to do next\\, if it is not always the same for the code"`
	// Cause is the failure that led to this one, where it is one of these itself.
	Cause *Error `json:"cause,omitempty" jsonschema:"description=The failure that led to this one"`

	cause error
}

// Fail makes the failure of a code. Its sentence is the message error.CODE of the
// catalogues and its hint error.CODE.hint, where there is one; both may write the figures
// and nothing else ({{.address}}, {{rate .limit_bps}}). A figure is a number, a text or
// a list of texts, and its key carries its unit as in [Figures].
//
// The figure "cause" may be an error: errors.Is and errors.As find it, and {{.cause}}
// writes its sentence. The hint of a cause is that of the failure if it has none itself.
func Fail(kind Kind, code string, figures Figures) *Error {
	e := &Error{Kind: kind, Code: code}
	if cause, ok := figures["cause"].(error); ok {
		figures = maps.Clone(figures)
		e.cause = cause
		// What wraps a failure has a text of its own, so only the failure itself is meant.
		if e.Cause, ok = cause.(*Error); ok { //nolint:errorlint
			delete(figures, "cause")
		} else {
			figures["cause"] = cause.Error()
		}
	}
	e.Figures = figures.plain()
	e.Message, e.Hint = e.sentences(messages.English(), (*Error).english)
	return e
}

// WithHintCode returns e with the hint of the message hint.CODE instead of its own, and
// with the figures that this one writes.
func (e *Error) WithHintCode(code string, figures Figures) *Error {
	e.HintCode = code
	if len(figures) > 0 {
		all := Figures{}
		maps.Copy(all, e.Figures)
		maps.Copy(all, figures.plain())
		e.Figures = all
	}
	_, e.Hint = e.sentences(messages.English(), (*Error).english)
	return e
}

// TextError is what another program says in sentences of its own.
func TextError(kind Kind, message, hint string) *Error {
	return &Error{Kind: kind, Message: message, Hint: hint}
}

func (e *Error) english() (message, hint string) { return e.Message, e.Hint }

// Sentences are the message and the hint in a language. Those of a code that this version
// does not know, and of an error without a code, are those that e carries.
func (e *Error) Sentences(l *messages.Language) (message, hint string) {
	return e.sentences(l, func(cause *Error) (string, string) { return cause.Sentences(l) })
}

// sentences makes message and hint; those of the cause come from of.
func (e *Error) sentences(l *messages.Language, of func(*Error) (message, hint string)) (message, hint string) {
	message, hint = e.Message, e.Hint
	args := messages.Args{}
	for key, figure := range e.Figures {
		if v, ok := figure.(float64); ok {
			figure = messages.Number(v)
		}
		args[key] = figure
	}
	if e.Cause != nil {
		var inherited string
		args["cause"], inherited = of(e.Cause)
		if hint == "" || hint == e.Cause.Hint {
			hint = inherited
		}
	}
	key := "error." + e.Code
	if e.Code != "" && (message == "" || l.Has(key)) {
		message = e.say(l, key, args, message)
	}
	if key += ".hint"; e.HintCode != "" {
		key = "hint." + e.HintCode
	}
	if (e.Code != "" || e.HintCode != "") && l.Has(key) {
		hint = e.say(l, key, args, e.Hint)
	}
	return message, hint
}

// say makes one sentence; of figures that are not those that it writes, as a document of
// another version may have them, the sentence that e carries.
func (e *Error) say(l *messages.Language, key string, args messages.Args, carried string) string {
	s, err := l.Sentence(key, args)
	switch {
	case err == nil:
		return s
	case carried != "":
		return carried
	}
	return l.OrKey(key, args)
}

// WithCause returns e with a cause for errors.Is and errors.As, of which its text says
// nothing.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// Error is "message; hint" on one line.
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
