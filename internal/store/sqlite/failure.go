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
)

// failure turns what the database said into a sentence with a next step.
func failure(ctx context.Context, doing, path string, err error) *measure.Error {
	var said *measure.Error
	if errors.As(err, &said) {
		return said
	}
	if ctx.Err() != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	hint := "check the file and its folder, or give another with --store"
	why := err.Error()
	switch code := primaryCode(err); {
	case code == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC):
		why, hint = "the disk is full", "free some space and try again; everything stored before is intact"
	case code == sqlite3.SQLITE_CORRUPT:
		why, hint = "the file is damaged", "move it aside and fill a new store from the campaigns' journals with soku run --resume; see also: sqlite3 FILE .recover"
	case code == sqlite3.SQLITE_NOTADB:
		why, hint = "it is no SQLite database", "give another file with --store"
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM || errors.Is(err, fs.ErrPermission):
		why, hint = "the file or its folder is read-only", "make both writable, or give another file with --store"
	case code == sqlite3.SQLITE_CANTOPEN:
		why, hint = "it cannot be opened or made", "make the file and its folder writable and see that the disk is not full, or give another file with --store"
	case code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED:
		why, hint = "another process kept it locked for "+BusyTimeout.String(), "try again when that process is done"
	case code == sqlite3.SQLITE_IOERR:
		why, hint = "the disk reported an error: "+err.Error(), "check the disk and its free space; what was committed before is intact"
	case errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed":
		why, hint = "it is closed", "open it again"
	}
	e := measure.Errorf(measure.KindStore, "%s the store %s: %s", doing, path, why)
	return e.WithHint("%s", hint)
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
