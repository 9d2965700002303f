package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Bounds of the log: a client can have the server write a line for each of its messages.
const (
	maxLogged   = 1000 // characters of a line
	logBurst    = 100  // lines in a row
	logPerSec   = 5    // lines a second after those
	leftOutText = "lines were left out"
)

// logger writes what the server logs. Texts of clients in it are filtered.
type logger struct {
	to    *slog.Logger
	limit *rate.Limiter

	leftOut atomic.Int64 // lines since the last one that was logged

	mu    sync.Mutex
	fatal string // the first line by which the server would have ended the process
}

func newLogger(to *slog.Logger) *logger {
	return &logger{to: to, limit: rate.NewLimiter(logPerSec, logBurst)}
}

func (l *logger) log(level slog.Level, format string, args []any) string {
	text := printable.Cut(printable.Line(fmt.Sprintf(format, args...)), maxLogged)
	switch {
	case l.to == nil || !l.to.Enabled(context.Background(), level):
	case level < slog.LevelError && !l.limit.Allow():
		l.leftOut.Add(1)
	default:
		if n := l.leftOut.Swap(0); n > 0 {
			l.to.Warn(leftOutText, "lines", n)
		}
		l.to.Log(context.Background(), level, text) // the server has none
	}
	return text
}

func (l *logger) Noticef(format string, args ...any) { l.log(slog.LevelDebug, format, args) }
func (l *logger) Errorf(format string, args ...any)  { l.log(slog.LevelWarn, format, args) }
func (l *logger) Debugf(format string, args ...any)  { l.log(slog.LevelDebug, format, args) }
func (l *logger) Tracef(format string, args ...any)  { l.log(slog.LevelDebug, format, args) }

// Warnf lowers a warning about the listener for WebSocket, which is on loopback behind the hub's TLS.
func (l *logger) Warnf(format string, args ...any) {
	level := slog.LevelWarn
	if strings.HasPrefix(format, "Websocket not configured with TLS") {
		level = slog.LevelDebug
	}
	l.log(level, format, args)
}

func (l *logger) Fatalf(format string, args ...any) {
	text := l.log(slog.LevelError, format, args)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = text
	}
}

func (l *logger) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

// failure is why the server cannot run, or nil.
func (l *logger) failure() error {
	if text := l.text(); text != "" {
		return measure.TextError(measure.KindUnreachable, text, "")
	}
	return nil
}
