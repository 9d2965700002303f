package ssh

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/process"
)

// errGreeting means that the login shell writes without end.
var errGreeting = errors.New("too many lines before the first one of the script")

// reply waits for the line of the host that begins with a word and has n more.
func (s *Session) reply(ctx context.Context, first string, n int) ([]string, error) {
	for range maxGreeting {
		line, err := s.far.next(ctx)
		if err != nil {
			return nil, err
		}
		if words, err := s.word(line, first, n); words != nil || err != nil {
			return words, err
		}
	}
	return nil, s.ended(ctx, errGreeting)
}

// word splits a line of the script that begins with first, or returns nil for another line.
func (s *Session) word(line []byte, first string, n int) ([]string, error) {
	words := strings.Fields(printable.Line(string(bytes.ToValidUTF8(line, []byte("?")))))
	switch {
	case len(words) > 1 && words[0] == "soku-failed":
		return nil, s.failed(words[1], strings.Join(words[2:], " "))
	case len(words) == n+1 && words[0] == first:
		return words[1:], nil
	}
	return nil, nil
}

// failed is what the script failed at.
func (s *Session) failed(reason, detail string) error {
	figures := measure.Figures{"destination": s.k.destination, "detail": shown(detail)}
	if reason == "checksum" {
		return measure.Fail(measure.KindBroken, "ssh.checksum", figures)
	}
	return measure.Fail(measure.KindUnreachable, "ssh.folder", figures)
}

// ended is why a step failed: what ssh wrote, if it has ended.
func (s *Session) ended(ctx context.Context, err error) error {
	s.far.end(endGrace)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explain(s.k.destination, string(s.far.complaints.Bytes()), err)
}

// notAShell is why the script did not begin: on Windows there is no sh.
func (s *Session) notAShell(ctx context.Context, err error) error {
	var e *measure.Error
	if ctx.Err() != nil || !errors.As(err, &e) || e.Code != "ssh.failed" {
		return err
	}
	cmd := s.k.further(ctx, "cmd /c ver")
	var out bytes.Buffer
	cmd.Stdout = limited(&out, endpoint.MaxLine)
	if process.NewGroup(cmd).Run() == nil && strings.Contains(out.String(), "Windows") {
		return measure.Fail(measure.KindUsage, "ssh.windows", measure.Figures{"destination": s.k.destination})
	}
	return err
}
