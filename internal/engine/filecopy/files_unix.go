//go:build unix

package filecopy

import "golang.org/x/sys/unix"

// openSafely are flags for a file that is opened by a name somebody else may have chosen:
// no link is followed, and a pipe is not waited for.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// noSpace is the error of a full disk.
const noSpace = unix.ENOSPC
