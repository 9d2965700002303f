package users

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"soku/internal/limiter"
	"soku/internal/measure"
)

// How long a session lasts: from its start, and without a request.
const (
	SessionLasts = 7 * 24 * time.Hour
	idleLasts    = 12 * time.Hour
	seenEvery    = time.Minute // a session is marked as seen at most so often
)

// Bounds of tries to log in: a number in a row, then one at a time.
const (
	triesOfAddress = 20
	addressEvery   = 10 * time.Second
	triesOfName    = 10
	nameEvery      = 30 * time.Second
)

// LogIn begins a session and returns the secret of its cookie. address is the other end of the request, host:port. An error has
// kind refused: for a wrong name or password, without saying which, or after too many tries.
func (u *Users) LogIn(ctx context.Context, address, name, password string) (cookie string, p Person, err error) {
	if err := u.Try(address, name); err != nil {
		return "", p, err
	}
	kept := noPassword
	p = Person{Name: name}
	err = u.store.DB.QueryRowContext(ctx, u.sql(`SELECT password, role FROM hub_user WHERE name = ? AND password <> ''`), name).Scan(&kept, &p.Role)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", p, u.fail(ctx, err)
	}
	same, err := matches(ctx, password, kept)
	if err != nil {
		return "", p, measure.AsError(err, measure.KindInterrupted)
	}
	if !same || !known {
		return "", Person{}, measure.Fail(measure.KindRefused, "users.login", nil)
	}
	cookie, err = u.begin(ctx, p.Name, kept)
	return cookie, p, err
}

// Try counts a try to log in as name, or to use a link ("") from an address. An error has kind refused: there were too many.
func (u *Users) Try(address, name string) error {
	if !u.addresses.Take(limiter.NetworkOf(address)) || name != "" && !u.names.Take(name[:min(len(name), 64)]) {
		return measure.Fail(measure.KindRefused, "users.tries", nil)
	}
	return nil
}

// begin begins a session of a user whose password, as it is kept, was given, and returns the secret of the cookie. An error has
// kind refused if the password was changed meanwhile: that ends the sessions that there are, and this one would outlive it.
func (u *Users) begin(ctx context.Context, name, password string) (cookie string, err error) {
	cookie, kept := secret("")
	now := u.store.Dialect.Now
	if _, err = u.exec(ctx, `DELETE FROM hub_session WHERE expires_at < `+now+` OR seen_at < `+now+` - ?`, idleLasts.Milliseconds()); err != nil {
		return "", err
	}
	err = u.transact(ctx, func(tx *sql.Tx) error {
		// An update of the row, so that a change of the password is before or after the whole transaction.
		done, err := tx.ExecContext(ctx, u.sql(`UPDATE hub_user SET password = password WHERE name = ? AND password = ?`), name, password)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, measure.Fail(measure.KindRefused, "users.login", nil))
		}
		_, err = tx.ExecContext(ctx, u.sql(`INSERT INTO hub_session (hash, name, seen_at, expires_at) VALUES (?, ?, `+now+`, `+now+` + ?)`), kept, name, SessionLasts.Milliseconds())
		return err
	})
	if err != nil {
		return "", err
	}
	return cookie, nil
}

// OfSession is whose session a cookie is, with the present role; the zero Person if there is none.
func (u *Users) OfSession(ctx context.Context, cookie string) (p Person, err error) {
	if cookie == "" {
		return p, nil
	}
	now, kept := u.store.Dialect.Now, hashOf(cookie)
	var idle int64
	err = u.store.DB.QueryRowContext(ctx, u.sql(`SELECT u.name, u.role, `+now+` - s.seen_at FROM hub_session AS s JOIN hub_user AS u ON u.name = s.name
		WHERE s.hash = ? AND s.expires_at > `+now+` AND s.seen_at > `+now+` - ?`), kept, idleLasts.Milliseconds()).Scan(&p.Name, &p.Role, &idle)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Person{}, nil
	case err != nil:
		return Person{}, u.fail(ctx, err)
	case idle > seenEvery.Milliseconds():
		_, err = u.exec(ctx, `UPDATE hub_session SET seen_at = `+now+` WHERE hash = ?`, kept)
	}
	return p, err
}

// End ends a session.
func (u *Users) End(ctx context.Context, cookie string) error {
	_, err := u.exec(ctx, `DELETE FROM hub_session WHERE hash = ?`, hashOf(cookie))
	return err
}
