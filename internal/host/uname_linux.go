package host

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Uname is what the kernel reports of itself and its host, as uname(1) prints it with
// -snrvm: name, host name, release, version and machine.
func Uname() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad pointer
	text := unix.ByteSliceToString
	return strings.Join([]string{text(u.Sysname[:]), text(u.Nodename[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:])}, " ")
}

func kernelRelease() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:])
}
