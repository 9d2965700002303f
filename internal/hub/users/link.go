package users

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"soku/internal/measure"
)

// linkLasts is how long a link can be used by which somebody sets a password.
const linkLasts = 24 * time.Hour

// link makes the token of a link, in place of those of the name before.
func (u *Users) link(ctx context.Context, tx *sql.Tx, name string) (string, error) {
	token, kept := secret("")
	if err := u.forget(ctx, tx, name, "hub_user_link"); err != nil {
		return "", err
	}
	_, err := tx.ExecContext(ctx, u.sql(`INSERT INTO hub_user_link (hash, name, expires_at) VALUES (?, ?, `+u.store.Dialect.Now+` + ?)`), kept, name, linkLasts.Milliseconds())
	return token, err
}

// FirstLink is the token of the link by which the first admin chooses a name and a password, or "" if there is a user.
// Those before it are no longer valid.
func (u *Users) FirstLink(ctx context.Context) (token string, err error) {
	err = u.transact(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM hub_user`).Scan(&n); err != nil || n > 0 {
			return err
		}
		token, err = u.link(ctx, tx, "")
		return err
	})
	return token, err
}

// NewLink is the token of a link by which a user sets another password. An error has kind not_found.
func (u *Users) NewLink(ctx context.Context, name string) (token string, err error) {
	err = u.transact(ctx, func(tx *sql.Tx) error {
		if err := u.exists(ctx, tx, name); err != nil {
			return err
		}
		token, err = u.link(ctx, tx, name)
		return err
	})
	return token, err
}

func deadLink() error { return measure.Fail(measure.KindRefused, "users.link", nil) }

// LinkOf is whose link a token is; "" is the first admin, who has no name yet. An error has kind refused if the link was used, has
// expired or never was.
func (u *Users) LinkOf(ctx context.Context, token string) (name string, err error) {
	err = u.store.DB.QueryRowContext(ctx, u.sql(`SELECT name FROM hub_user_link WHERE hash = ? AND expires_at > `+u.store.Dialect.Now), hashOf(token)).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", deadLink()
	}
	if err != nil {
		return "", u.fail(ctx, err)
	}
	return name, nil
}

// UseLink sets the password of the user of a link, which ends with that, and so do all sessions of the user. It begins another
// session and returns the secret of its cookie. name is
// that of the first admin; for others it is not read. An error has kind usage for a name or password that cannot be, and
// the link stays valid; or that of LinkOf, or refused if another admin was first.
func (u *Users) UseLink(ctx context.Context, token, name, password string) (cookie string, p Person, err error) {
	p.Role = Admin
	of, err := u.LinkOf(ctx, token) // before the password is hashed, which is work
	if err != nil {
		return "", p, err
	}
	if p.Name = of; of == "" {
		p.Name, err = name, checkName(name)
	}
	if err != nil {
		return "", p, err
	}
	kept, err := keep(ctx, password)
	if err != nil {
		return "", p, err
	}
	err = u.transact(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, u.sql(`DELETE FROM hub_user_link WHERE hash = ?`), hashOf(token))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, deadLink())
		}
		if of == "" {
			var n int
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM hub_user`).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return deadLink()
			}
			return u.insert(ctx, tx, name, Admin, kept)
		}
		err = tx.QueryRowContext(ctx, u.sql(`UPDATE hub_user SET password = ? WHERE name = ? RETURNING role`), kept, of).Scan(&p.Role)
		if errors.Is(err, sql.ErrNoRows) {
			return deadLink()
		}
		return errors.Join(err, u.forget(ctx, tx, of, "hub_session"))
	})
	if err != nil {
		return "", p, err
	}
	cookie, err = u.begin(ctx, p.Name, kept)
	return cookie, p, err
}
