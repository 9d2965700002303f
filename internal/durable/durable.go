// Package durable writes files that are on disk when a call returns: whole, or not at all. It
// knows nothing of what they hold.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// syncFile has a file or folder written to disk; tests replace it.
var syncFile = (*os.File).Sync

// WriteFile replaces a file as [Replace] does. Devices and pipes are written as they are, and so
// is a file that may be written in a folder that may not.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	if before, err := os.Lstat(name); err == nil && !before.Mode().IsRegular() {
		return os.WriteFile(name, data, perm)
	}
	f, err := create(name, perm)
	if errors.Is(err, fs.ErrPermission) {
		return os.WriteFile(name, data, perm)
	}
	if err != nil {
		return err
	}
	return finish(f, name, func(f *os.File) error { _, err := f.Write(data); return err })
}

// Replace writes a file by write and puts it in the place of name. The former content stays when
// write fails, there is no room or the power fails. A file that exists keeps its mode; a new one
// has perm.
func Replace(name string, perm fs.FileMode, write func(*os.File) error) error {
	f, err := create(name, perm)
	if err != nil {
		return err
	}
	return finish(f, name, write)
}

// trySize is the size of the file that [Try] writes, in bytes: more than most documents have.
const trySize = 64 << 10

// Try fails as [WriteFile] would: if the folder does not exist or takes no file, or if there is
// no room for 64 KiB. It leaves no file, and does not try devices and pipes.
func Try(name string) error {
	switch before, err := os.Stat(name); {
	case err != nil: // a new file
	case before.IsDir():
		return &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	case !before.Mode().IsRegular():
		return nil
	}
	f, err := create(name, 0o600)
	if errors.Is(err, fs.ErrPermission) { // the file may be writable although its folder is not
		if f, openErr := os.OpenFile(name, os.O_WRONLY, 0); openErr == nil {
			return f.Close()
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, trySize))
	return named(name, errors.Join(err, f.Close(), os.Remove(f.Name())))
}

// create opens the file that takes the place of name.
func create(name string, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(fmt.Sprintf("%s.%08x.part", name, rand.Uint32()), os.O_CREATE|os.O_EXCL|os.O_RDWR, perm)
	return f, named(name, err)
}

// finish writes f and puts it in the place of name.
func finish(f *os.File, name string, write func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			_ = f.Close() // also where it is closed
			_ = os.Remove(f.Name())
			err = named(name, err)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if before, statErr := os.Lstat(name); statErr == nil && runtime.GOOS != "windows" { // whose read-only files cannot be removed
		if err = f.Chmod(before.Mode()); err != nil {
			return err
		}
	}
	if err = syncFile(f); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	SyncFolder(filepath.Dir(name))
	return nil
}

// SyncFolder has the new entries of a folder written to disk. Some systems cannot; the entries
// are then written whenever the system does.
func SyncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = syncFile(d)
		_ = d.Close()
	}
}

// named is an error about the file that was asked for and not the one written in its place.
func named(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return &fs.PathError{Op: "write", Path: name, Err: path.Err}
	}
	return err
}
