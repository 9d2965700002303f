package postgres

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"soku/internal/measure"
)

// Codes of PostgreSQL, from appendix A of its manual.
const (
	codeDiskFull         = "53100"
	codeTooManyConns     = "53300"
	codeReadOnly         = "25006"
	codeNoRight          = "42501"
	codeWrongPassword    = "28P01"
	codeNotAuthorized    = "28000"
	codeNoDatabase       = "3D000"
	codeCorrupted        = "XX001"
	codeIndexCorrupted   = "XX002"
	codeAdminShutdown    = "57P01"
	codeCrashShutdown    = "57P02"
	codeCannotConnectNow = "57P03"
)

// explain is what the database said, with a next step.
func explain(err error) *measure.Error {
	cause := func(code string) *measure.Error {
		return measure.Fail(measure.KindStore, code, nil).WithCause(err)
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		switch said.Code {
		case codeDiskFull:
			return cause("store.cause.full")
		case codeReadOnly, codeNoRight:
			return cause("store.cause.no_right")
		case codeWrongPassword, codeNotAuthorized:
			return cause("store.cause.password")
		case codeNoDatabase:
			return cause("store.cause.no_database")
		case codeTooManyConns:
			return cause("store.cause.many_connections")
		case codeCorrupted, codeIndexCorrupted:
			return cause("store.cause.damaged")
		case codeAdminShutdown, codeCrashShutdown, codeCannotConnectNow:
			return cause("store.cause.stopped")
		}
		return measure.Fail(measure.KindStore, "store.cause.other", measure.Figures{"cause": err})
	}
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, errClosed) || err.Error() == errClosed.Error():
		return cause("store.cause.closed")
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return cause("store.cause.unreachable")
	}
	return measure.Fail(measure.KindStore, "store.cause.other", measure.Figures{"cause": err})
}
