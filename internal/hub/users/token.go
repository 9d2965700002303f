package users

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"soku/internal/measure"
)

// Bounds of tokens for programs.
const (
	TokenLasts    = 90 * 24 * time.Hour // if nothing is asked
	maxTokenLasts = 2 * 365 * 24 * time.Hour
	maxTokens     = 20 // of a user
	tokenPrefix   = "soku-api-"
)

// MakeToken makes a token for programs of a user, which may do what role allows and the user's own role does. It is
// returned once and kept as a hash. An error has kind usage, not_found, or refused if the user has too many.
func (u *Users) MakeToken(ctx context.Context, name string, role Role, lasts time.Duration) (token string, err error) {
	if lasts == 0 {
		lasts = TokenLasts
	}
	if lasts < time.Second || lasts > maxTokenLasts {
		return "", measure.Fail(measure.KindUsage, "users.token.lasts", measure.Figures{"lasts_ns": lasts, "limit_ns": maxTokenLasts})
	}
	if err := checkRole(role); err != nil {
		return "", err
	}
	token, kept := secret(tokenPrefix)
	now := u.store.Dialect.Now
	err = u.transact(ctx, func(tx *sql.Tx) error {
		if err := u.exists(ctx, tx, name); err != nil {
			return err
		}
		var live int
		if err := tx.QueryRowContext(ctx, u.sql(`SELECT count(*) FROM hub_user_token WHERE name = ? AND expires_at > `+now), name).Scan(&live); err != nil {
			return err
		}
		if live >= maxTokens {
			return measure.Fail(measure.KindRefused, "users.token.many", measure.Figures{"name": name, "limit": maxTokens})
		}
		_, err := tx.ExecContext(ctx, u.sql(`INSERT INTO hub_user_token (hash, name, role, made_at, expires_at) VALUES (?, ?, ?, `+now+`, `+now+` + ?)`),
			kept, name, string(role), lasts.Milliseconds())
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// EndTokens ends all tokens of a user. An error has kind not_found if there is no user of this name.
func (u *Users) EndTokens(ctx context.Context, name string) error {
	return u.transact(ctx, func(tx *sql.Tx) error {
		if err := u.exists(ctx, tx, name); err != nil {
			return err
		}
		return u.forget(ctx, tx, name, "hub_user_token")
	})
}

// OfToken is whose token it is; the zero Person if there is none.
func (u *Users) OfToken(ctx context.Context, token string) (p Person, err error) {
	var role Role
	err = u.store.DB.QueryRowContext(ctx, u.sql(`SELECT u.name, u.role, t.role FROM hub_user_token AS t JOIN hub_user AS u ON u.name = t.name
		WHERE t.hash = ? AND t.expires_at > `+u.store.Dialect.Now), hashOf(token)).Scan(&p.Name, &p.Role, &role)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Person{}, nil
	case err != nil:
		return Person{}, u.fail(ctx, err)
	}
	p.Role = lesser(p.Role, role)
	return p, nil
}
