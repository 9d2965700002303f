package agent

import (
	"bufio"
	"context"
	"io"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"soku/internal/measure"
)

// LoopbackServer is a soku server of this host's own: another process that
// listens on a free port of 127.0.0.1. It lives as long as the pipe into it is
// open, so it does not outlive this process however that ends.
type LoopbackServer struct {
	Address string // host:port

	cmd   *exec.Cmd
	alive io.Closer
}

// StartLoopbackServer starts it; Stop must be called. stderr gets what the server
// complains of. The server ignores the end of ctx, so that a trial against it can
// end in order first.
func StartLoopbackServer(ctx context.Context, self Self, stderr io.Writer) (*LoopbackServer, error) {
	failed := func(err error) (*LoopbackServer, error) {
		return nil, measure.Fail(measure.KindInternal, "agent.loopback.start", measure.Figures{"cause": err})
	}
	cmd, err := self.Command(context.WithoutCancel(ctx), "server", "--child", "--quiet", "--listen", "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	cmd.Stderr = stderr
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
	s := &LoopbackServer{cmd: cmd, alive: alive}
	line, err := firstLine(out)
	if err != nil {
		_ = s.Stop() // the child has written why
		return failed(err)
	}
	if _, err := netip.ParseAddrPort(line); err != nil {
		_ = s.Stop()
		return nil, measure.Fail(measure.KindInternal, "agent.loopback.no_address", measure.Figures{"line": line})
	}
	s.Address = line
	return s, nil
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(r, 4096), 4096).ReadString('\n')
	return strings.TrimSpace(line), err
}

// serverGrace is how long a server may take to end before it is killed.
const serverGrace = 2 * time.Second

// Stop ends the server and waits for it.
func (s *LoopbackServer) Stop() error {
	_ = s.alive.Close()
	kill := time.AfterFunc(serverGrace, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	if err := s.cmd.Wait(); err != nil {
		return measure.Fail(measure.KindInternal, "agent.loopback.end", measure.Figures{"cause": err})
	}
	return nil
}
