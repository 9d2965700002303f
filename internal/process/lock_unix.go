//go:build !windows

package process

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// LockFile takes the file for this process. The kernel gives it back when the
// process ends, however it ends. It returns false if another process has it.
func LockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
