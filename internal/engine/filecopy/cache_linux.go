package filecopy

import (
	"errors"
	"os"

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

// cached reports whether the byte at an offset is in the page cache; known is false if the
// file system does not tell (preadv2(2), RWF_NOWAIT).
func cached(f *os.File, offset int64) (in, known bool) {
	err := control(f, func(fd int) error {
		_, err := unix.Preadv2(fd, [][]byte{make([]byte, 1)}, offset, unix.RWF_NOWAIT)
		return err
	})
	switch {
	case err == nil:
		return true, true
	case errors.Is(err, unix.EAGAIN):
		return false, true
	}
	return false, false
}

// syncAll flushes the file system of a folder; false if the system cannot, and each file
// must be flushed.
func syncAll(folder *os.Root) (done bool, err error) {
	d, err := folder.Open(".")
	if err != nil {
		return false, err
	}
	defer d.Close()
	return true, control(d, unix.Syncfs)
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
