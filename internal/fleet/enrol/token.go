package enrol

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/store/sqlstore"
)

// Bounds of join tokens.
const (
	TokenPrefix   = "soku-join-"
	TokenLasts    = time.Hour           // if nothing is asked
	MaxTokenLasts = 30 * 24 * time.Hour // from when it was made
	MaxTokenUses  = 50                  // agents that may join by one token
	MaxTokens     = 1000                // that can be used at a time
	tokenBytes    = 20                  // of randomness
	tokenForgot   = 7 * 24 * time.Hour  // after its end a token is deleted, and unknown from then on
	tokenIDLength = 12                  // digits of the hash
)

// TokenOrder is a token that is asked for.
type TokenOrder struct {
	Labels map[string]string // which agents get that join by it
	Lasts  time.Duration     // 0: TokenLasts
	Uses   int               // 0: 1
}

// Token is a join token as it is kept, without the secret.
type Token struct {
	ID        string            `json:"id"` // begins its hash
	Labels    map[string]string `json:"labels"`
	Uses      int               `json:"uses"` // how many agents may join by it
	Used      int               `json:"used"`
	MadeAt    time.Time         `json:"made_at"`
	ExpiresAt time.Time         `json:"expires_at"`
}

const tokenColumns = `hash, labels, uses, used, made_at, expires_at`

func scanToken(scan func(...any) error) (Token, error) {
	var t Token
	var labels string
	var made, expires int64
	if err := scan(&t.ID, &labels, &t.Uses, &t.Used, &made, &expires); err != nil {
		return t, err
	}
	t.ID = t.ID[:min(len(t.ID), tokenIDLength)]
	t.MadeAt, t.ExpiresAt = time.UnixMilli(made).UTC(), time.UnixMilli(expires).UTC()
	return t, json.Unmarshal([]byte(labels), &t.Labels)
}

var tokenText = base32.StdEncoding.WithPadding(base32.NoPadding)

// hashOf is how a token is kept. It has more randomness than can be guessed, so that a slow hash is not needed.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// TokenID is the [Token].ID of a secret, by which a log may name it.
func TokenID(secret string) string { return hashOf(secret)[:tokenIDLength] }

// MakeToken makes a token. Its secret is returned once and kept nowhere. An error has kind usage for an order beyond the
// bounds, or refused if there are too many tokens.
func (r *Registry) MakeToken(ctx context.Context, o TokenOrder) (secret string, t Token, err error) {
	if o.Lasts == 0 {
		o.Lasts = TokenLasts
	}
	if o.Uses == 0 {
		o.Uses = 1
	}
	if o.Lasts < time.Second || o.Lasts > MaxTokenLasts {
		return "", Token{}, measure.Fail(measure.KindUsage, "enrol.token.lasts", measure.Figures{"lasts_ns": o.Lasts, "limit_ns": MaxTokenLasts})
	}
	if o.Uses < 1 || o.Uses > MaxTokenUses {
		return "", Token{}, measure.Fail(measure.KindUsage, "enrol.token.uses", measure.Figures{"uses": o.Uses, "limit": MaxTokenUses})
	}
	labels, err := encodeLabels(o.Labels)
	if err != nil {
		return "", Token{}, err
	}
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // it ends the program rather than fail
	secret = TokenPrefix + strings.ToLower(tokenText.EncodeToString(random))
	err = r.write(ctx, func(tx *sql.Tx) error {
		now := r.store.Dialect.Now
		if _, err := tx.ExecContext(ctx, r.sql(`DELETE FROM fleet_token WHERE expires_at < `+now+` - ?`), tokenForgot.Milliseconds()); err != nil {
			return err
		}
		var live int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM fleet_token WHERE used < uses AND expires_at > `+now).Scan(&live); err != nil {
			return err
		}
		if live >= MaxTokens {
			return measure.Fail(measure.KindRefused, "enrol.token.many", measure.Figures{"limit": MaxTokens})
		}
		t, err = scanToken(tx.QueryRowContext(ctx, r.sql(`INSERT INTO fleet_token (hash, labels, uses, used, made_at, expires_at)
			VALUES (?, ?, ?, 0, `+now+`, `+now+` + ?) RETURNING `+tokenColumns), hashOf(secret), labels, o.Uses, o.Lasts.Milliseconds()).Scan)
		return err
	})
	if err != nil {
		return "", Token{}, r.fail(ctx, "enrol.store.write", err)
	}
	return secret, t, nil
}

// Tokens are those that can be used and those that ended in the last days, the newest first.
func (r *Registry) Tokens(ctx context.Context) ([]Token, error) {
	rows, err := r.store.DB.QueryContext(ctx, `SELECT `+tokenColumns+` FROM fleet_token ORDER BY made_at DESC, hash`)
	var tokens []Token
	if err == nil {
		tokens, err = sqlstore.Collect(rows, scanToken)
	}
	if err != nil {
		return nil, r.fail(ctx, "enrol.store.read", err)
	}
	return tokens, nil
}

// EndToken deletes a token. Agents that have joined by it stay. An error has kind not_found if there is no token of this ID.
func (r *Registry) EndToken(ctx context.Context, id string) error {
	done, err := r.store.DB.ExecContext(ctx, r.sql(`DELETE FROM fleet_token WHERE substr(hash, 1, ?) = ?`), tokenIDLength, id)
	var n int64
	if err == nil {
		n, err = done.RowsAffected()
	}
	if err != nil {
		return r.fail(ctx, "enrol.store.write", err)
	}
	if n == 0 {
		return measure.Fail(measure.KindNotFound, "enrol.token.none", measure.Figures{"token": id})
	}
	return nil
}

// lockToken reads a token that has not expired, and keeps others from using it until the transaction ends: agents that
// join at the same time are counted one after another.
func (r *Registry) lockToken(ctx context.Context, tx *sql.Tx, hash string) (labels string, left int, err error) {
	var live int
	err = tx.QueryRowContext(ctx, r.sql(`UPDATE fleet_token SET used = used WHERE hash = ?
		RETURNING labels, uses - used, CASE WHEN expires_at > `+r.store.Dialect.Now+` THEN 1 ELSE 0 END`), hash).Scan(&labels, &left, &live)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", 0, measure.Fail(measure.KindRefused, "enrol.token.unknown", nil)
	case err == nil && live == 0:
		return "", 0, measure.Fail(measure.KindRefused, "enrol.token.expired", nil)
	}
	return labels, left, err
}

// useToken counts a use of a token that is locked.
func (r *Registry) useToken(ctx context.Context, tx *sql.Tx, hash string, left int) error {
	if left <= 0 {
		return measure.Fail(measure.KindRefused, "enrol.token.used", nil)
	}
	_, err := tx.ExecContext(ctx, r.sql(`UPDATE fleet_token SET used = used + 1 WHERE hash = ?`), hash)
	return err
}
