package series

import (
	"time"

	"golang.org/x/sys/unix"
)

// A file of the kernel is read into a buffer that grows to longestFile; a longer one is not
// read.
const (
	firstBuffer = 4 << 10
	longestFile = 1 << 20
)

// file is a file that stays open and is read again from its start.
type file struct {
	fd  int // -1: could not be opened
	buf []byte
}

// openFile opens without waiting, whatever the file is.
func openFile(path string) *file {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		fd = -1
	}
	return &file{fd: fd}
}

func (f *file) ok() bool { return f.fd >= 0 }

func (f *file) close() {
	if f.fd >= 0 {
		_ = unix.Close(f.fd)
		f.fd = -1
	}
}

// read returns the text, valid until the next call, or nil if reading fails.
func (f *file) read() []byte {
	if f.fd < 0 {
		return nil
	}
	if f.buf == nil {
		f.buf = make([]byte, firstBuffer)
	}
	n := 0
	for {
		if n == len(f.buf) {
			if n >= longestFile {
				return nil
			}
			f.buf = append(f.buf, make([]byte, n)...)
		}
		got, err := unix.Pread(f.fd, f.buf[n:], int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil
		case got == 0:
			return f.buf[:n]
		default:
			n += got
		}
	}
}

// textOf returns the text of a file that is read once, or an empty string if reading fails.
func textOf(path string) string {
	f := openFile(path)
	defer f.close()
	return string(f.read())
}

// fileSource is a source of one file; none where it cannot be read or its first reading has
// no value.
func fileSource(path string, columns []Column, parse func(b []byte, row []int64)) Source {
	f := openFile(path)
	s := Source{Columns: columns, Close: f.close, Read: func(row []int64) {
		if b := f.read(); b != nil {
			parse(b, row)
		}
	}}
	if !f.ok() || !known(s) {
		f.close()
		return none()
	}
	return s
}

// known reports whether a reading of a source has any value.
func known(s Source) bool {
	row := unknownRow(len(s.Columns))
	s.Read(row)
	for _, v := range row {
		if v != Unknown {
			return true
		}
	}
	return false
}

// processorTime is the processor time of this thread: what a source takes does not depend on
// what else runs.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
