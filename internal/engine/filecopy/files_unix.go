//go:build unix

package filecopy

import "golang.org/x/sys/unix"

// openSafely are flags for a file in a folder that other programs write to: no link is
// followed, and a pipe is not waited for.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// noSpace is the error of a full disk.
const noSpace = unix.ENOSPC
