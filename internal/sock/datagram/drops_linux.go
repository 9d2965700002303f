package datagram

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Drops counts the datagrams that the kernel dropped at one socket, because its receive
// queue was full or their checksum was wrong.
type Drops struct {
	raw  syscall.RawConn
	read func(fd uintptr)
	info [16]uint32 // SO_MEMINFO, of which later kernels may have more
	ok   bool
}

// DropsOf returns the counter of c, or nil if the system has none.
func DropsOf(c net.Conn) *Drops {
	raw, ok := rawConn(c)
	if !ok {
		return nil
	}
	d := &Drops{raw: raw}
	d.read = d.ask
	if _, ok := d.Count(); !ok {
		return nil
	}
	return d
}

// Count returns the number of drops since the socket was created, or false if it cannot be read.
// The number wraps around at 32 bits. Count does not allocate and is for one goroutine.
func (d *Drops) Count() (uint32, bool) {
	d.ok = false
	if err := d.raw.Control(d.read); err != nil {
		return 0, false
	}
	return d.info[unix.SK_MEMINFO_DROPS], d.ok
}

func (d *Drops) ask(fd uintptr) {
	length := uint32(unsafe.Sizeof(d.info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&d.info[0])), uintptr(unsafe.Pointer(&length)), 0)
	d.ok = errno == 0 && length > unix.SK_MEMINFO_DROPS*4
}

func rawConn(c net.Conn) (syscall.RawConn, bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := sc.SyscallConn()
	return raw, err == nil
}
