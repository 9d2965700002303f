package cli

import (
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

func uname() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS + " " + runtime.GOARCH
	}
	return strings.Join([]string{
		unix.ByteSliceToString(u.Sysname[:]), unix.ByteSliceToString(u.Nodename[:]), unix.ByteSliceToString(u.Release[:]),
		unix.ByteSliceToString(u.Version[:]), unix.ByteSliceToString(u.Machine[:]),
	}, " ")
}
