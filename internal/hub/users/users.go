package users

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/netip"
	"regexp"
	"time"

	"soku/internal/limiter"
	"soku/internal/measure"
	"soku/internal/store/sqlstore"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Users are the people of a hub. It is safe for concurrent use, also by several processes. Errors have kind store unless it
// is said.
type Users struct {
	store     *sqlstore.Store
	addresses *limiter.Limiter[netip.Prefix] // tries to log in
	names     *limiter.Limiter[string]
}

// User is somebody who may log in.
type User struct {
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	MadeAt   time.Time `json:"made_at"`
	Password bool      `json:"password"` // one was set
}

// AdminToken is the name of who has the token of the hub's file; no user has it.
const AdminToken = "admin-token"

// most is how many users there may be.
const most = 1000

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// checkName fails with kind usage for what cannot be a name.
func checkName(name string) error {
	if !validName.MatchString(name) || name == AdminToken {
		return measure.Fail(measure.KindUsage, "users.name", measure.Figures{"name": name[:min(len(name), 100)]})
	}
	return nil
}

// Open makes the tables where they are missing, and deletes what has expired.
func Open(ctx context.Context, s *sqlstore.Store) (*Users, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		err = s.Dialect.Migrate(ctx, s, sqlstore.Schema{Files: files, Table: "soku_users_version"})
	}
	if err != nil {
		return nil, err
	}
	u := &Users{store: s, addresses: limiter.New[netip.Prefix](addressEvery, triesOfAddress), names: limiter.New[string](nameEvery, triesOfName)}
	for _, table := range []string{"hub_session", "hub_user_token", "hub_user_link"} {
		if _, err := u.exec(ctx, `DELETE FROM `+table+` WHERE expires_at < `+s.Dialect.Now); err != nil {
			return nil, err
		}
	}
	_, err = u.exec(ctx, `DELETE FROM hub_audit WHERE at < `+s.Dialect.Now+` - ?`, auditLasts.Milliseconds())
	return u, err
}

func (u *Users) sql(text string) string { return u.store.Dialect.SQL(text) }

func (u *Users) fail(ctx context.Context, err error) error {
	return u.store.Fail(ctx, "users.store", measure.Figures{"store": u.store.Place, "cause": err})
}

// exec changes rows, and returns how many.
func (u *Users) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	done, err := u.store.DB.ExecContext(ctx, u.sql(text), args...)
	if err == nil {
		n, err = done.RowsAffected()
	}
	if err != nil {
		return 0, u.fail(ctx, err)
	}
	return n, nil
}

// transact is Transact of the store.
func (u *Users) transact(ctx context.Context, work func(*sql.Tx) error) error {
	if err := u.store.Transact(ctx, work); err != nil {
		return u.fail(ctx, err)
	}
	return nil
}

// secret makes one, and how it is kept.
func secret(prefix string) (text, hash string) {
	text = prefix + rand.Text()
	return text, hashOf(text)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// List are all users by name.
func (u *Users) List(ctx context.Context) ([]User, error) {
	rows, err := u.store.DB.QueryContext(ctx, `SELECT name, role, made_at, CASE WHEN password = '' THEN 0 ELSE 1 END FROM hub_user ORDER BY name`)
	var all []User
	if err == nil {
		all, err = sqlstore.Collect(rows, func(scan func(...any) error) (one User, err error) {
			var made, has int64
			err = scan(&one.Name, &one.Role, &made, &has)
			one.MadeAt, one.Password = time.UnixMilli(made).UTC(), has == 1
			return one, err
		})
	}
	if err != nil {
		return nil, u.fail(ctx, err)
	}
	return all, nil
}

// Add adds a user without a password, who sets one by the link whose token is returned. An error has kind usage for a
// name or role that cannot be, or refused if there is such a user or too many.
func (u *Users) Add(ctx context.Context, name string, role Role) (token string, err error) {
	if err := errors.Join(checkName(name), checkRole(role)); err != nil {
		return "", err
	}
	err = u.transact(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM hub_user`).Scan(&n); err != nil {
			return err
		}
		if n >= most {
			return measure.Fail(measure.KindRefused, "users.many", measure.Figures{"limit": most})
		}
		if err := u.insert(ctx, tx, name, role, ""); err != nil {
			return err
		}
		token, err = u.link(ctx, tx, name)
		return err
	})
	return token, err
}

// insert adds a user. An error has kind refused if there is one of this name.
func (u *Users) insert(ctx context.Context, tx *sql.Tx, name string, role Role, password string) error {
	done, err := tx.ExecContext(ctx, u.sql(`INSERT INTO hub_user (name, role, password, made_at) VALUES (?, ?, ?, `+u.store.Dialect.Now+`) ON CONFLICT (name) DO NOTHING`),
		name, string(role), password)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return measure.Fail(measure.KindRefused, "users.exists", measure.Figures{"name": name})
}

func unknown(name string) error {
	return measure.Fail(measure.KindNotFound, "users.unknown", measure.Figures{"name": name[:min(len(name), 100)]})
}

// exists fails with kind not_found unless there is a user of this name.
func (u *Users) exists(ctx context.Context, tx *sql.Tx, name string) error {
	var n int
	if err := tx.QueryRowContext(ctx, u.sql(`SELECT count(*) FROM hub_user WHERE name = ?`), name).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return unknown(name)
	}
	return nil
}

// Remove removes a user with sessions, tokens and links. An error has kind not_found if there is none.
func (u *Users) Remove(ctx context.Context, name string) error {
	return u.transact(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, u.sql(`DELETE FROM hub_user WHERE name = ?`), name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, unknown(name))
		}
		return u.forget(ctx, tx, name, "hub_session", "hub_user_token", "hub_user_link")
	})
}

// forget deletes a user's rows in tables.
func (u *Users) forget(ctx context.Context, tx *sql.Tx, name string, tables ...string) error {
	for _, table := range tables {
		if _, err := tx.ExecContext(ctx, u.sql(`DELETE FROM `+table+` WHERE name = ?`), name); err != nil {
			return err
		}
	}
	return nil
}

// SetRole gives a user another role, which sessions and tokens have from then on. An error has kind usage or not_found.
func (u *Users) SetRole(ctx context.Context, name string, role Role) error {
	if err := checkRole(role); err != nil {
		return err
	}
	n, err := u.exec(ctx, `UPDATE hub_user SET role = ? WHERE name = ?`, string(role), name)
	if err == nil && n == 0 {
		err = unknown(name)
	}
	return err
}
