package datagram

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supported is why this kernel has no such path, or nil. It is asked once.
func supported(path string) error {
	if err := calls(); err != nil {
		return err
	}
	switch path {
	case GSO:
		return segmentation()
	case GRO:
		return joining()
	}
	return nil
}

var (
	// calls tries both calls on nothing: a kernel or a sandbox without them
	// refuses before it looks at the arguments.
	calls = sync.OnceValue(func() error {
		return withSocket(func(fd int) error {
			var m message
			if _, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), 0, 0, 0, 0); errno != 0 {
				return fmt.Errorf("sendmmsg: %w", errno)
			}
			_, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), 1, unix.MSG_DONTWAIT, 0, 0)
			if errno != 0 && errno != unix.EAGAIN {
				return fmt.Errorf("recvmmsg: %w", errno)
			}
			return nil
		})
	})
	segmentation = sync.OnceValue(func() error { return takes("UDP_SEGMENT", unix.UDP_SEGMENT, 1400) })
	joining      = sync.OnceValue(func() error { return takes("UDP_GRO", unix.UDP_GRO, 1) })
)

// takes tries a socket option of UDP.
func takes(name string, option, value int) error {
	return withSocket(func(fd int) error {
		if err := unix.SetsockoptInt(fd, unix.SOL_UDP, option, value); err != nil {
			return fmt.Errorf("socket option %s: %w", name, err)
		}
		return nil
	})
}

// withSocket runs f with a socket of its own.
func withSocket(f func(fd int) error) error {
	for _, domain := range []int{unix.AF_INET, unix.AF_INET6} {
		fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			continue
		}
		defer func() { _ = unix.Close(fd) }()
		return f(fd)
	}
	return unix.EAFNOSUPPORT
}
