//go:build windows

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// LockFile takes the file for this process; the system gives it back when the
// process ends. It returns false if another process has it. The locked byte is
// far behind the file's end, because Windows refuses to read a locked range.
func LockFile(f *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// UnlockFile gives a locked file back.
func UnlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}

// StartDetached is not possible on this system.
func StartDetached([]string, string, ...string) error { return errors.ErrUnsupported }

// Group is a command and what it starts.
type Group struct {
	cmd *exec.Cmd

	mu  sync.Mutex     // held during the start
	job windows.Handle // 0 before the start, after Wait, and where the system refuses one
}

// NewGroup makes the group of a command that has not been started: a job object.
func NewGroup(cmd *exec.Cmd) *Group { return &Group{cmd: cmd} }

// ntResumeProcess resumes all threads of a process. The documented call needs the handle of a
// thread, which package os closes.
var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// Start starts the command. It is suspended until it is in the job, so that it starts nothing
// outside.
func (g *Group) Start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd.SysProcAttr == nil {
		g.cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	g.cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	if err := g.cmd.Start(); err != nil {
		return err
	}
	status := uintptr(windows.STATUS_UNSUCCESSFUL)
	err := g.cmd.Process.WithHandle(func(handle uintptr) {
		g.job = newJob(windows.Handle(handle))
		status, _, _ = ntResumeProcess.Call(handle)
	})
	if err == nil && status != 0 {
		err = windows.NTStatus(status)
	}
	if err != nil {
		_ = g.cmd.Process.Kill()
		_ = g.cmd.Wait()
		g.closeJob()
	}
	return err
}

// newJob returns a job with the process in it, or 0 if the system refuses. Unlike one with
// JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE it leaves alone, when it is closed, what a command
// started to go on after it, such as a load generator.
func newJob(handle windows.Handle) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	if windows.AssignProcessToJobObject(job, handle) != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	return job
}

// Wait waits for the command, and leaves alone what it started and left running.
func (g *Group) Wait() error {
	err := g.cmd.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closeJob()
	return err
}

func (g *Group) closeJob() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}

// Kill kills the command, after its start began, and what it started.
func (g *Group) Kill() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return g.cmd.Process.Kill()
	}
	return windows.TerminateJobObject(g.job, 1)
}

// ShellCommand makes the command that runs a text with a shell: argv and the text behind it, or the
// system's shell if argv is empty. create makes it from a program and its arguments. cmd gets
// the text as it is: it takes \" for two characters, and not, as other programs, for a quote.
func ShellCommand(create func(name string, args ...string) *exec.Cmd, argv []string, text string) *exec.Cmd {
	if len(argv) == 0 {
		argv = []string{"cmd", "/S", "/C"}
	}
	args := append(argv[1:len(argv):len(argv)], text)
	cmd := create(argv[0], args...)
	if name := strings.ToLower(filepath.Base(argv[0])); name == "cmd" || name == "cmd.exe" {
		args[len(args)-1] = `"` + text + `"` // which cmd removes
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: syscall.EscapeArg(argv[0]) + " " + strings.Join(args, " ")}
	}
	return cmd
}
