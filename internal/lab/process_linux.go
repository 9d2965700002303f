package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"soku/internal/measure"
	processes "soku/internal/process"
)

// Command runs argv on a host of the lab: a process of its own that enters
// the host's namespace and becomes argv. It is killed when ctx ends. For one that is to
// end with this program, too, the caller calls [process.DieWithParent].
func (l *Lab) Command(ctx context.Context, host string, argv ...string) *exec.Cmd {
	args := append([]string{"lab", "enter", NamespaceName(l.Topology.Name, host), "--"}, argv...)
	return exec.CommandContext(ctx, l.options.Executable, args...)
}

// Enter replaces the calling process by the command argv inside a namespace of a lab, with the
// disk of that host. It returns only on failure. The CLI's hidden command "lab enter" and "lab exec" use it.
func Enter(namespace string, argv []string) error {
	if len(argv) == 0 {
		return measure.Fail(measure.KindUsage, "lab.enter.no_command", measure.Figures{"namespace": namespace})
	}
	if strings.Contains(namespace, "/") || !strings.HasPrefix(namespace, "soku-") {
		return measure.Fail(measure.KindUsage, "lab.enter.no_namespace", measure.Figures{"namespace": namespace})
	}
	if err := joinGroup(namespace); err != nil {
		return fail("lab.enter.disk", measure.Figures{"namespace": namespace, "cause": err})
	}
	runtime.LockOSThread() // execve keeps the namespace of the thread that calls it
	fd, err := unix.Open(namespacePath(namespace), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return failIfDown("lab.enter.namespace", measure.Figures{"namespace": namespace, "cause": err})
	}
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return failIfDown("lab.enter.namespace", measure.Figures{"namespace": namespace, "cause": err})
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return measure.Fail(measure.KindUsage, "lab.enter.run", measure.Figures{"command": argv[0], "namespace": namespace, "cause": err})
	}
	return measure.Fail(measure.KindInternal, "lab.enter.run", measure.Figures{"command": argv[0], "namespace": namespace, "cause": syscall.Exec(path, argv, os.Environ())})
}

// start runs a process of the lab that outlives this program, and records it.
func (l *Lab) start(role, node string, cmd *exec.Cmd) error {
	name := role
	if node != "" {
		name += "-" + node
	}
	log, err := os.OpenFile(filepath.Join(l.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	o := &owned{process: cmd.Process, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		_ = cmd.Wait() // how it ended is in its log; Down or the waiting step sees that it did
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owned = append(l.owned, o)
	ticks, err := startTicks(o.process.Pid)
	if err != nil {
		return measure.Fail(measure.KindInternal, "lab.ended_at_once", measure.Figures{"program": name, "log": log.Name()})
	}
	l.state.Processes = append(l.state.Processes, process{Role: role, Node: node, PID: o.process.Pid, StartTicks: ticks})
	return l.save()
}

// collect waits for the children of this program that were asked to end, and ends those
// without a record.
func (l *Lab) collect() {
	l.mu.Lock()
	children := l.owned
	l.owned = nil
	l.mu.Unlock()
	for _, c := range children {
		select {
		case <-c.done:
			continue
		case <-time.After(50 * time.Millisecond):
		}
		_ = c.process.Kill()
		<-c.done
	}
}

// startTicks returns when a process began, in clock ticks since boot. Together with its
// number this identifies it while the machine runs.
func startTicks(pid int) (uint64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := p.Stat()
	return stat.Starttime, err
}

// alive reports whether the recorded process is still running. It uses the process file
// descriptor: in /proc a program that calls exec looks ended for a moment.
func (p process) alive() bool {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return !errors.Is(err, unix.ESRCH)
	}
	defer func() { _ = unix.Close(fd) }()
	if waitPidfd(context.Background(), fd, 0) {
		return false
	}
	ticks, err := startTicks(p.PID)
	return err != nil || ticks == p.StartTicks
}

// stopTimeout is how long a process may take to end after SIGTERM.
const stopTimeout = 2 * time.Second

// stop ends the recorded processes and waits for their end. The process file descriptor
// makes sure that no other process with the same number is signalled.
func stop(ctx context.Context, processes []process) error {
	var first error
	var handles, pids []int
	for _, p := range processes {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if err != nil {
			continue // gone
		}
		if !p.alive() {
			unix.Close(fd)
			continue
		}
		_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
		handles, pids = append(handles, fd), append(pids, p.PID)
	}
	deadline := time.Now().Add(stopTimeout)
	for i, fd := range handles {
		if !waitPidfd(ctx, fd, time.Until(deadline)) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			if !waitPidfd(context.WithoutCancel(ctx), fd, stopTimeout) && first == nil {
				first = measure.Fail(measure.KindInternal, "lab.process_remains", measure.Figures{"pid": pids[i]})
			}
		}
		unix.Close(fd)
	}
	return first
}

// waitPidfd reports whether the process ended within the time.
func waitPidfd(ctx context.Context, fd int, most time.Duration) bool {
	for end := time.Now().Add(most); ; {
		left := min(time.Until(end), 50*time.Millisecond)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, max(int(left/time.Millisecond), 0))
		if n > 0 {
			return true
		}
		if err != nil && !errors.Is(err, unix.EINTR) || left <= 0 || ctx.Err() != nil {
			return false
		}
	}
}

// Become replaces this process by the command argv on a host of the lab, so that signals,
// terminal and exit status are the command's. It returns only on failure.
func (l *Lab) Become(host string, argv []string) error {
	if err := l.runnable(host, argv); err != nil {
		return err
	}
	return Enter(NamespaceName(l.Topology.Name, host), argv)
}

// Exec runs argv on a host of the lab as a child of this process that ends with
// ctx (SIGTERM, then SIGKILL) and with this process. Its failure is the error,
// an *exec.ExitError for a status other than 0.
func (l *Lab) Exec(ctx context.Context, host string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := l.runnable(host, argv); err != nil {
		return err
	}
	cmd := l.Command(ctx, host, argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	processes.DieWithParent(cmd)
	runtime.LockOSThread() // see DieWithParent
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// runnable returns why argv cannot run on a host, or nil.
func (l *Lab) runnable(host string, argv []string) error {
	if l.Topology.Node(host) == nil {
		_, err := l.Topology.Address(host, "") // the error lists the hosts
		return err
	}
	if len(argv) == 0 {
		return measure.Fail(measure.KindUsage, "lab.no_command", measure.Figures{"host": host})
	}
	return nil
}
