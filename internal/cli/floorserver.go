package cli

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"time"

	"soku/internal/measure"
)

// startLoopbackServer starts this program again as a server on a free port of
// 127.0.0.1 and returns its address. stop ends it and waits for it. The server
// lives as long as the pipe into it is open, so it does not outlive this
// process however that ends.
func startLoopbackServer(ctx context.Context, sys *System) (address string, stop func() error, err error) {
	failed := func(err error) (string, func() error, error) {
		return "", nil, measure.Errorf(measure.KindInternal, "start a server on loopback: %w", err)
	}
	self, err := sys.Executable()
	if err != nil {
		return failed(err)
	}
	// Not with ctx: a Ctrl-C lets the trial end in order first.
	cmd := sys.Command(context.WithoutCancel(ctx), self, "server", "--child", "--quiet", "--listen", "127.0.0.1:0")
	cmd.Stderr = sys.Stderr
	cmd.WaitDelay = time.Second
	alive, err := cmd.StdinPipe()
	if err != nil {
		return failed(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return failed(err)
	}
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	stop = func() error { return stopChild(cmd, alive) }
	line, err := firstLine(out)
	_, rest, found := strings.Cut(line, "listening on ")
	if !found {
		_ = stop() // the child has said why
		if err == nil {
			return failed(measure.Errorf(measure.KindInternal, "it said %q", line))
		}
		return failed(err)
	}
	address, _, _ = strings.Cut(rest, " ")
	return address, stop, nil
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(r, 4096), 4096).ReadString('\n')
	return strings.TrimSpace(line), err
}

// childGrace is how long a server may take to end before it is killed.
const childGrace = 2 * time.Second

func stopChild(cmd *exec.Cmd, alive io.Closer) error {
	_ = alive.Close()
	kill := time.AfterFunc(childGrace, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil {
		return measure.Errorf(measure.KindInternal, "the server on loopback: %w", err)
	}
	return nil
}

// whileOpen is ctx without its end, and ends when in does: a Ctrl-C reaches
// every process of the terminal, and the parent ends the trial before the
// server of it. The goroutine ends with in, which the process does not outlive
// by more than its own end.
func whileOpen(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	return ctx
}
