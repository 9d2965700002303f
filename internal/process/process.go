// Package process holds what soku does with the processes that it starts: how
// long they live (with this one, with an open pipe, or on their own), how they
// and what they started are ended, and what they wrote last; which signal ended
// something ([Signalled]); and the lock that a file has as long as a process lives ([LockFile]). It starts no
// process itself but a detached one ([StartDetached]), and it knows nothing of
// what they do.
package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"time"
)

// WhileOpen is ctx without its end; it ends when in does, which a parent holds
// open for as long as it wants this process. A Ctrl-C reaches every process of
// the terminal, so that the parent and not the signal decides the order in which
// they end. It starts one goroutine, which ends with in.
func WhileOpen(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	return ctx
}

// lookEvery is how often [WhileThere] looks.
const lookEvery = 2 * time.Second

// WhileThere is ctx that also ends when there reports that something is gone, at the latest
// 2 s later. It starts one goroutine, which ends with the context; stop ends both.
func WhileThere(ctx context.Context, there func() bool) (_ context.Context, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		defer stop()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for there() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop
}

// Signalled is the error of what a signal to this process ended.
type Signalled struct{ Signal os.Signal }

// Error is the name of the signal.
func (s Signalled) Error() string { return s.Signal.String() }

// Tail is a writer that keeps the last Limit bytes written to it.
type Tail struct {
	Limit int
	buf   bytes.Buffer
}

func (t *Tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - t.Limit; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

// Bytes is a copy of what is kept.
func (t *Tail) Bytes() []byte { return bytes.Clone(t.buf.Bytes()) }

// Run starts the command and waits for it.
func (g *Group) Run() error {
	if err := g.Start(); err != nil {
		return err
	}
	return g.Wait()
}

// LastLine is the last line of text that is not blank, without the space around it.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
