package faults

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is one that is started again whenever it ends, as systemd does it.
type program struct {
	t     *testing.T
	name  string
	args  []string
	extra []string // of the environment
	after func() time.Duration
	enter func() error // has the thread that starts it in its network namespace; nil: that of the test

	mu    sync.Mutex
	cmd   *exec.Cmd
	out   bytes.Buffer
	input io.Closer
	ended chan struct{} // closed: it is not started again
	more  chan struct{}
	done  chan struct{}
}

// keep starts a program until the test ends. after is how long it is not there after its end; nil: 100 ms.
func keep(t *testing.T, name string, environment []string, after func() time.Duration, args ...string) *program {
	t.Helper()
	return keepIn(t, nil, name, environment, after, args...)
}

// keepIn is [keep] of a program in a network namespace.
func keepIn(t *testing.T, enter func() error, name string, environment []string, after func() time.Duration, args ...string) *program {
	t.Helper()
	p := &program{t: t, name: name, args: args, extra: environment, after: after, enter: enter, more: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	t.Cleanup(func() {
		p.end()
		if t.Failed() {
			t.Logf("%s:\n%s", name, p.text())
		}
	})
	return p
}

func (p *program) run() {
	defer close(p.done)
	if p.enter != nil {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := p.enter(); err != nil {
			p.t.Errorf("%s: %v", p.name, err)
			return
		}
	}
	for {
		p.mu.Lock()
		cmd := exec.Command(p.args[0], p.args[1:]...)
		p.mu.Unlock()
		cmd.Env = append(os.Environ(), p.extra...)
		cmd.Stdout, cmd.Stderr = p, p
		input, err := cmd.StdinPipe() // a broker ends with it
		p.mu.Lock()
		select {
		case <-p.ended:
			p.mu.Unlock()
			return
		default:
		}
		if err == nil {
			err = cmd.Start()
		}
		p.cmd, p.input = cmd, input
		p.mu.Unlock()
		if err != nil {
			p.t.Errorf("%s: %v", p.name, err)
			return
		}
		_ = cmd.Wait()
		_ = input.Close()
		pause := 100 * time.Millisecond
		if p.after != nil {
			pause = p.after()
		}
		select {
		case <-time.After(pause):
		case <-p.ended:
			return
		}
	}
}

// Write keeps what the program writes.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
	return p.out.Write(b)
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *program) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

func (p *program) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(s) // of a process that has ended it is an error
	}
}

// replace starts the program again with another value of a flag.
func (p *program) replace(flag, value string) {
	p.mu.Lock()
	p.args = slices.Clone(p.args)
	p.args[slices.Index(p.args, flag)+1] = value
	p.mu.Unlock()
	p.signal(syscall.SIGTERM)
}

// suspend stops the program for a time.
func (p *program) suspend(d time.Duration) {
	p.signal(syscall.SIGSTOP)
	time.Sleep(d)
	p.signal(syscall.SIGCONT)
}

// end ends the program for good.
func (p *program) end() {
	select {
	case <-p.ended:
		return
	default:
	}
	p.mu.Lock()
	close(p.ended)
	if p.input != nil {
		_ = p.input.Close()
	}
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.t.Errorf("%s did not end in time", p.name)
		p.signal(syscall.SIGKILL)
		<-p.done
	}
}

// await waits until the program has written a text.
func (p *program) await(text string) {
	p.t.Helper()
	p.awaitTimes(text, 1)
}

// awaitTimes waits until the program has written a text a number of times.
func (p *program) awaitTimes(text string, times int) {
	p.t.Helper()
	limit := time.After(time.Minute)
	for strings.Count(p.text(), text) < times {
		select {
		case <-p.more:
		case <-limit:
			p.t.Fatalf("%s has not written %q: %s", p.name, text, p.text())
		}
	}
}
