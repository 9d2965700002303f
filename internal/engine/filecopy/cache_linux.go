package filecopy

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setDirect switches direct I/O of an open file (O_DIRECT, open(2)), and fails if the file
// system does not have it.
func setDirect(f *os.File, on bool) error {
	return control(f, func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if flags &^= unix.O_DIRECT; on {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
		return err
	})
}

// dropPages removes the clean pages of a file from the page cache (posix_fadvise(2)).
func dropPages(f *os.File) error {
	return control(f, func(fd int) error { return unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED) })
}

// cached reports whether the byte at an offset is in the page cache (mincore(2), which
// starts no reading). known is false for a file that this process may not write: the kernel
// does not tell it then.
func cached(f *os.File, offset int64) (in, known bool) {
	_ = control(f, func(fd int) error {
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil || os.Geteuid() != 0 && int(s.Uid) != os.Geteuid() {
			return err
		}
		page := os.Getpagesize()
		m, err := unix.Mmap(fd, offset/int64(page)*int64(page), page, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		var resident byte
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(page), uintptr(unsafe.Pointer(&resident)))
		in, known = resident&1 != 0, errno == 0
		return unix.Munmap(m)
	})
	return in, known
}

// syncAll flushes the file system of a folder. If it returns false, the system cannot, and each
// file must be flushed.
func syncAll(folder *os.Root) (done bool, err error) {
	d, err := folder.Open(".")
	if err != nil {
		return false, err
	}
	defer d.Close()
	return true, control(d, unix.Syncfs)
}

// beginFlush begins to write n bytes of a file from an offset on to the device, and does not
// wait for it (sync_file_range(2)).
func beginFlush(f *os.File, offset, n int64) error {
	return control(f, func(fd int) error { return unix.SyncFileRange(fd, offset, n, unix.SYNC_FILE_RANGE_WRITE) })
}

// canSyncAll: files are flushed together after the last one.
const canSyncAll = true

func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}
