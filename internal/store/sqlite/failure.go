package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"soku/internal/measure"
	"soku/internal/store/sqlstore"
)

// explained is the failure of a file that is no store yet.
func explained(ctx context.Context, code string, figures measure.Figures) *measure.Error {
	return (&sqlstore.Store{Dialect: dialect}).Fail(ctx, code, figures)
}

// explain is what the database said, with a next step.
func explain(err error) *measure.Error {
	cause := func(code string) *measure.Error {
		return measure.Fail(measure.KindStore, code, nil).WithCause(err)
	}
	switch code := primaryCode(err); {
	case code == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC):
		return cause("store.cause.full")
	case code == sqlite3.SQLITE_CORRUPT:
		return cause("store.cause.damaged")
	case code == sqlite3.SQLITE_NOTADB:
		return cause("store.cause.not_sqlite")
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM || errors.Is(err, fs.ErrPermission):
		return cause("store.cause.read_only")
	case code == sqlite3.SQLITE_CANTOPEN:
		return cause("store.cause.cannot_open")
	case code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED:
		return measure.Fail(measure.KindStore, "store.cause.locked", measure.Figures{"waited_ns": BusyTimeout}).WithCause(err)
	case code == sqlite3.SQLITE_IOERR:
		return measure.Fail(measure.KindStore, "store.cause.disk", measure.Figures{"cause": err})
	case errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed":
		return cause("store.cause.closed")
	}
	return measure.Fail(measure.KindStore, "store.cause.other", measure.Figures{"cause": err})
}

// primaryCode is SQLite's result code without its extension, 0 for other errors.
func primaryCode(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func isDamage(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
