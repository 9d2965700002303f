package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"time"

	"soku/internal/hub/users"
	"soku/internal/measure"
)

// cookieName is that of the session. By its prefix browsers take it over HTTPS only, and of this host alone.
const cookieName = "__Host-soku"

// person is who sends a request: by its token, or without one by its session; or the zero Person.
func (c Config) person(r *http.Request) (users.Person, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		token, ok := strings.CutPrefix(header, "Bearer ")
		if !ok {
			return users.Person{}, nil
		}
		want, got := sha256.Sum256([]byte(c.AdminToken)), sha256.Sum256([]byte(token))
		if c.AdminToken != "" && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return users.Person{Name: users.AdminToken, Role: users.Admin}, nil
		}
		return c.Users.OfToken(r.Context(), token)
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return users.Person{}, nil //nolint:nilerr // there is none
	}
	return c.Users.OfSession(r.Context(), cookie.Value)
}

// outside is a failure as those get it who are not known to the hub. What failed inside the hub is logged and not shown: it names
// the database.
func (c Config) outside(err error) error {
	if err == nil || statusOf(err) != http.StatusInternalServerError {
		return err
	}
	if measure.KindOf(err) != measure.KindInterrupted { // by the client
		c.Log.Error("a request of an unknown person cannot be answered", "error", err)
	}
	return measure.Fail(measure.KindInternal, "web.unavailable", nil)
}

// session sets the cookie of a session, or with an empty value deletes it.
func session(w http.ResponseWriter, value string) {
	lasts := int(users.SessionLasts.Seconds())
	if value == "" {
		lasts = -1
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: lasts, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// auditLasts is how long writing to the audit log may take.
const auditLasts = 10 * time.Second

// audit adds to the log of what people did, also if the client is gone: closing a connection must not hide what was done.
// If the entry cannot be written, that is logged.
func (c Config) audit(r *http.Request, who string, action users.Action, subject string, failure error) {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), auditLasts)
	defer stop()
	if err := c.Users.Log(ctx, users.Entry{Who: who, Address: address, Action: action, Subject: subject}, failure); err != nil {
		c.Log.Error("the log of what people do cannot be written", "who", who, "action", action, "subject", subject, "error", err)
	}
}
