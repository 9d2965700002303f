package server

import (
	"crypto/sha256"
	"crypto/subtle"

	"soku/internal/measure"
)

// Ask is a request of a client over a control connection.
type Ask struct {
	Token string // that the client presents; empty: none
	// Session is what the client asks for; nil: the request begins no session.
	Session *Wanted
}

// Wanted is a session that a client asks for.
type Wanted struct {
	Test    measure.Test
	Options measure.Options // as the client asks, before limits of the server lower a rate
}

// Access decides whether a client is served. It is asked for every request, and again, with what is wanted, before a
// session begins: after all that could refuse it but the number of sessions. It returns nil or an error of kind refused. It does not
// block, and is called from several goroutines.
type Access func(Ask) *measure.Error

// WithToken is the access of those who present a token, all alike.
func WithToken(token string) Access {
	want := sha256.Sum256([]byte(token))
	return func(a Ask) *measure.Error {
		got := sha256.Sum256([]byte(a.Token))
		switch {
		case subtle.ConstantTimeCompare(got[:], want[:]) == 1:
			return nil
		case a.Token == "":
			return measure.Fail(measure.KindRefused, "server.token.missing", nil)
		}
		return measure.Fail(measure.KindRefused, "server.token.wrong", nil)
	}
}
