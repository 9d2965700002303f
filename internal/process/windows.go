//go:build windows

package process

import (
	"errors"
	"os"
	"os/exec"

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

// OwnGroup does nothing: this system has no process groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills the command alone.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
