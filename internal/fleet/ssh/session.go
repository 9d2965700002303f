package ssh

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/process"
)

// Session is a prepared host. It is safe for concurrent use.
type Session struct {
	Address  string // name or address that ssh connected to
	Platform Platform
	Port     int           // of the server there; 0: none
	Token    string        // that the server requires
	Clock    agent.Clock   // of the host, when it was prepared
	Copied   bool          // the program was copied, not found there
	Lasted   time.Duration // of the preparation

	k     *connection
	path  string // of the program on the host
	alive string // file on the host that its processes end with
	far   *far
}

// Command makes a process of soku on the host. It ends with ctx, and its input ends it; it
// also ends when the session does.
func (s *Session) Command(ctx context.Context, command string) *exec.Cmd {
	return s.k.further(ctx, s.path+" "+command+" --while "+s.alive)
}

// Done is closed when the connection has ended.
func (s *Session) Done() <-chan struct{} { return s.far.done }

// endGrace is how long the far end may take to remove what it has.
const endGrace = 10 * time.Second

// Close has the host end what runs there and remove what was copied, and waits until it has,
// for at most 10 s.
func (s *Session) Close() {
	s.far.end(endGrace)
	s.k.remove()
}

// far is the process of ssh whose other end is the host.
type far struct {
	k          *connection
	group      *process.Group
	complaints *process.Tail
	lines      chan []byte   // what the host wrote; closed with its output
	stop       chan struct{} // closed by end: lines are not read any more
	done       chan struct{} // closed when the process has ended
	endOnce    sync.Once

	stdin io.WriteCloser // written by one goroutine at a time: that of Open, then keepAlive
	asked int64          // requests; as stdin
	err   error          // of the process; valid after done

	compare chan chan<- agent.Clock // who wants the clock compared; the channel has room for one
}

// open starts the process. It does not end with ctx, but with its input.
func open(ctx context.Context, k *connection) (*far, error) {
	cmd := k.first(context.WithoutCancel(ctx), shellCommand)
	f := &far{
		k: k, complaints: &process.Tail{Limit: 4 << 10}, group: process.NewGroup(cmd),
		lines: make(chan []byte), stop: make(chan struct{}), done: make(chan struct{}), compare: make(chan chan<- agent.Clock),
	}
	cmd.Stderr = f.complaints
	var err error
	if f.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.group.Start(); err != nil {
		return nil, k.failure(ctx, f.complaints, err)
	}
	go f.read(out)
	return f, nil
}

// read passes lines on until the output ends, a line is too long or stop is closed.
func (f *far) read(out io.Reader) {
	defer close(f.done)
	in := bufio.NewReaderSize(out, endpoint.MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			break
		}
		select {
		case f.lines <- append([]byte(nil), line...):
			continue
		case <-f.stop:
		}
		break
	}
	close(f.lines)
	_ = f.stdin.Close()
	if n, _ := io.CopyN(io.Discard, out, maxRest); n == maxRest { // it does not end by itself
		_ = f.group.Kill()
		_, _ = io.Copy(io.Discard, out)
	}
	f.err = f.group.Wait()
}

// write sends a line to the host.
func (f *far) write(line []byte) error {
	_, err := f.stdin.Write(append(line, '\n'))
	return err
}

func (f *far) writeJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(line)
}

// stepTimeout is how long a host may take from one line to the next.
const stepTimeout = 60 * time.Second

// next is the next line of the host. Where there is none, the error is what ssh wrote about it.
func (f *far) next(ctx context.Context) ([]byte, error) {
	limit := time.NewTimer(stepTimeout)
	defer limit.Stop()
	select {
	case line, ok := <-f.lines:
		if ok {
			return line, nil
		}
		f.end(endGrace)
		return nil, f.k.failure(ctx, f.complaints, f.err)
	case <-limit.C:
		return nil, measure.Fail(measure.KindUnreachable, "ssh.silent", measure.Figures{"destination": f.k.destination, "after_ns": int64(stepTimeout)})
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// end closes the input of the host and waits until the process has ended, which it kills
// after the grace.
func (f *far) end(grace time.Duration) {
	f.endOnce.Do(func() {
		close(f.stop)
		_ = f.stdin.Close()
	})
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-f.done:
	case <-limit.C:
		_ = f.group.Kill()
		<-f.done
	}
}

// CompareClock compares the host's clock again.
func (s *Session) CompareClock(ctx context.Context) (agent.Clock, error) {
	answer := make(chan agent.Clock, 1)
	select {
	case s.far.compare <- answer:
	case <-s.far.done:
	case <-ctx.Done():
	}
	select {
	case c, ok := <-answer:
		if ok {
			return c, nil
		}
	case <-s.far.done:
	case <-ctx.Done():
		return agent.Clock{}, context.Cause(ctx)
	}
	return agent.Clock{}, measure.Fail(measure.KindUnreachable, "ssh.lost", measure.Figures{"host": s.k.destination, "why": ""})
}

// keepAlive sends a request from time to time, reads the answers, and compares clocks, until the session ends.
func (f *far) keepAlive() {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.asked++
			_ = f.writeJSON(endpoint.Request{Ask: f.asked}) // that it cannot be written ends the output, too
		case answer := <-f.compare:
			if c, err := agent.CompareClocks(func() (int64, error) { return f.ask(context.Background()) }); err == nil {
				answer <- c
			}
			close(answer)
		case _, ok := <-f.lines:
			if !ok {
				return
			}
		case <-f.stop:
			return
		}
	}
}

var errStray = errors.New("an answer to no request")

// ask sends a request and returns the host's clock from its answer. Those to requests before are passed over.
func (f *far) ask(ctx context.Context) (unixNs int64, err error) {
	f.asked++
	if err := f.writeJSON(endpoint.Request{Ask: f.asked}); err != nil {
		return 0, err
	}
	for {
		line, err := f.next(ctx)
		if err != nil {
			return 0, err
		}
		var a endpoint.Answer
		switch err := json.Unmarshal(line, &a); {
		case err != nil || a.Answer < 1 || a.Answer > f.asked:
			return 0, errStray
		case a.Answer == f.asked:
			return a.UnixNs, nil
		}
	}
}
