// Package postgres is the store (package store) in a PostgreSQL database, for those whom one file of
// SQLite does not suffice. It asks for no extension, no trigger and no right but to make tables in its
// schema. Its statements are those of package sqlstore.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// mostConnections is how many connections a store has to its database at a time: each costs the
// server a process.
const mostConnections = 16

// Open opens the store in the database of a URL, postgres://user:password@host:port/database, and
// brings it to this version's schema. It refuses a database that a newer soku wrote.
// An error has kind store, or kind usage for a text that is no such URL, and never the password.
func Open(ctx context.Context, address string) (store.Store, error) {
	place := Place(address)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The text of the error may have parts of the password.
		return nil, measure.Fail(measure.KindUsage, "store.postgres_url", measure.Figures{"store": place})
	}
	// A method that returns has written to disk, whatever the server's default is.
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["application_name"] = "soku"
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(mostConnections)
	db.SetMaxIdleConns(mostConnections)
	s := &sqlstore.Store{DB: db, Place: place, Dialect: dialect}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		err = migrate(ctx, s, sqlstore.Schema{Files: files, Table: "soku_schema_version"})
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// Place is a URL as messages may have it: without password and parameters.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "postgres"
	}
	u.RawQuery, u.Fragment = "", ""
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// Is reports whether a text is a URL that [Open] takes, not the path of a file.
func Is(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// migrate applies the steps that are missing, and waits for another process that does so. It refuses
// tables that a newer soku wrote.
func migrate(ctx context.Context, s *sqlstore.Store, schema sqlstore.Schema) error {
	err := func() error {
		alone, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
		if err != nil {
			return err
		}
		provider, err := goose.NewProvider(goose.DialectPostgres, s.DB, schema.Files, goose.WithTableName(schema.Table), goose.WithGoMigrations(schema.Steps...),
			goose.WithSessionLocker(alone), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
		if err != nil {
			return err
		}
		var ours sql.NullString
		if err := s.DB.QueryRowContext(ctx, `SELECT to_regclass($1)::text`, schema.Table).Scan(&ours); err != nil {
			return err
		}
		if ours.Valid {
			current, newest, err := provider.GetVersions(ctx)
			if err != nil {
				return err
			}
			if current > newest {
				return measure.Fail(measure.KindStore, "store.newer", measure.Figures{"store": s.Place, "schema": current, "newest": newest})
			}
			if current == newest {
				return nil
			}
		}
		_, err = provider.Up(ctx)
		return err
	}()
	if err != nil {
		return s.Fail(ctx, "store.open", measure.Figures{"store": s.Place, "cause": err})
	}
	return nil
}

// errClosed is what database/sql says of a database that was closed.
var errClosed = errors.New("sql: database is closed")
