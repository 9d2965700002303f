package host

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ethtool asks the driver of one interface (ethtool's ioctl interface), in the network namespace
// of the thread that opened it. It is for one goroutine at a time.
type Ethtool struct {
	socket  *os.File
	request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24 - unsafe.Sizeof(uintptr(0))]byte
	}
}

// OpenEthtool opens the ethtool interface of iface, which need not exist. Without a call of
// Close, the garbage collector closes it.
func OpenEthtool(iface string) (*Ethtool, error) {
	e := &Ethtool{}
	if copy(e.request.name[:unix.IFNAMSIZ-1], iface) < len(iface) {
		return nil, unix.ENODEV
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	e.socket = os.NewFile(uintptr(fd), "ethtool")
	return e, nil
}

// Call has the kernel carry out a command, with room behind it for what the kernel writes: it
// does not ask how much there is. It does not allocate. The request refers to the command by a
// pointer that the runtime knows: a stack may move until the kernel has the address.
func (e *Ethtool) Call(command unsafe.Pointer) error {
	e.request.data = command
	fd := e.socket.Fd()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&e.request))); errno != 0 {
		return errno
	}
	return nil
}

// Close closes the socket.
func (e *Ethtool) Close() { _ = e.socket.Close() }
