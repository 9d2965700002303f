package filecopy

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"soku/internal/process"
)

// private is a folder that belongs to one copy: it has a marked name, it is locked as long
// as its process lives, and it is removed with all that is in it at the end. What a killed
// process left is removed by the next copy to the same place ([cleanUp]).
type private struct {
	parent *os.Root
	root   *os.Root
	name   string
	lock   *os.File
	owned  bool // parent is closed with it
}

const (
	privatePrefix = ".soku-copy-"
	lockName      = "lock"
	// marker is what the lock file holds: a folder without it is not removed.
	marker = "soku copy: this folder is removed when the copy that made it has ended\n"
)

// openPrivate makes a private folder in a folder of this host, which must exist, after it
// removed what killed processes left there. It fails with the kinds usage, permission or broken.
func openPrivate(folder string) (*private, error) {
	parent, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failFile("copy.folder", folder, err)
	}
	p, err := newPrivate(parent, folder)
	if err != nil {
		_ = parent.Close()
		return nil, err
	}
	p.owned = true
	return p, nil
}

// newPrivate is [openPrivate] in a folder that is open and stays so. Errors call it shown.
func newPrivate(parent *os.Root, shown string) (*private, error) {
	cleanUp(parent)
	var err error
	for range 10 { // another process that cleans up may take a new folder for a left one
		var p *private
		if p, err = tryPrivate(parent); err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, failFile("copy.private", shown, err)
}

func tryPrivate(parent *os.Root) (*private, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	p := &private{parent: parent, name: privatePrefix + hex.EncodeToString(random[:])}
	if err := parent.Mkdir(p.name, 0o700); err != nil {
		return nil, err
	}
	if err := p.open(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// open opens and locks a folder that was just made. It fails with [fs.ErrNotExist] if another
// process removes it.
func (p *private) open() (err error) {
	if p.root, err = p.parent.OpenRoot(p.name); err != nil {
		return err
	}
	if p.lock, err = p.root.OpenFile(lockName, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	taken, err := process.LockFile(p.lock)
	if err != nil {
		return err
	}
	if _, err := p.root.Lstat(lockName); err != nil || !taken { // it was removed before it was locked
		return fs.ErrNotExist
	}
	_, err = p.lock.WriteString(marker)
	return err
}

// Close removes the folder. What cannot be removed is left to the next copy.
func (p *private) Close() {
	if p.root != nil {
		_ = p.root.Close()
	}
	removeLocked(p.parent, p.name, p.lock)
	if p.owned {
		_ = p.parent.Close()
	}
}

// removeLocked removes a private folder and closes its lock, which may be nil.
// The file of the lock goes last: what is left when this process is killed, or when
// something cannot be removed, still has it, and the next copy finds it.
func removeLocked(parent *os.Root, name string, lock *os.File) {
	empty := removeBut(parent, name, lockName)
	if empty {
		_ = parent.RemoveAll(name)
	}
	if lock != nil {
		_ = lock.Close() // held until now: a process that has just made the folder must not lock it
	}
	if empty {
		_ = parent.RemoveAll(name) // Windows removes no open file
	}
}

// removeBut removes what is in a folder except one file, and reports whether it could.
func removeBut(parent *os.Root, name, but string) bool {
	d, err := parent.Open(name)
	if err != nil {
		return false
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close()
	for _, n := range names {
		if n != but {
			err = errors.Join(err, parent.RemoveAll(name+"/"+n))
		}
	}
	return err == nil
}

// cleanUp removes the private folders that killed processes left in a folder. Folders of
// running copies, and others of such a name, stay.
func cleanUp(parent *os.Root) {
	d, err := parent.Open(".")
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, name := range names {
		if strings.HasPrefix(name, privatePrefix) {
			removeLeft(parent, name)
		}
	}
}

// removeLeft removes a private folder whose lock no process holds.
func removeLeft(parent *os.Root, name string) {
	info, err := parent.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	lock, err := parent.OpenFile(name+"/"+lockName, os.O_RDWR|openSafely, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = parent.Remove(name) // only if it is empty
	}
	if err != nil {
		return
	}
	if !abandoned(lock) {
		_ = lock.Close()
		return
	}
	removeLocked(parent, name, lock)
}

// abandoned locks the file of a private folder. It reports whether no process had it, and
// whether the file is that of a copy.
func abandoned(lock *os.File) bool {
	if info, err := lock.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	free, err := process.LockFile(lock)
	if err != nil || !free {
		return false
	}
	var text [len(marker)]byte
	n, _ := lock.Read(text[:])
	return strings.HasPrefix(marker, string(text[:n])) // a process may be killed before it has written all
}
