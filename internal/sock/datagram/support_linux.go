package datagram

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supported returns why this kernel lacks a path, or nil. Each is probed once.
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
	// calls tries both calls with no messages: a kernel or sandbox without them fails
	// before it checks the arguments.
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

// segmentsMost is how many segments the kernel splits a message into: its
// UDP_MAX_SEGMENTS, which is 64, and 128 since Linux 6.9. It is probed once, with a
// message of that many segments from a socket to itself.
var segmentsMost = sync.OnceValue(func() int {
	const few, many = 64, 128
	if err := withSocket(func(fd int) error { return sendToItself(fd, many) }); err != nil {
		return few
	}
	return many
})

// sendToItself sends a message of one-byte segments over loopback.
func sendToItself(fd, segments int) error {
	own, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	switch a := own.(type) {
	case *unix.SockaddrInet4:
		a.Addr = [4]byte{127, 0, 0, 1}
	case *unix.SockaddrInet6:
		a.Addr = [16]byte{15: 1}
	}
	if err := unix.Bind(fd, own); err != nil {
		return err
	}
	if own, err = unix.Getsockname(fd); err != nil {
		return err
	}
	if err := unix.Connect(fd, own); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT, 1); err != nil {
		return err
	}
	_, err = unix.Write(fd, make([]byte, segments))
	return err
}

// takes tries to set a socket option on a UDP socket.
func takes(name string, option, value int) error {
	return withSocket(func(fd int) error {
		if err := unix.SetsockoptInt(fd, unix.SOL_UDP, option, value); err != nil {
			return fmt.Errorf("socket option %s: %w", name, err)
		}
		return nil
	})
}

// withSocket runs f with a temporary socket.
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
