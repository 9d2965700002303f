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

// Private is a folder that belongs to one copy: it has a marked name, it is locked as long
// as its process lives, and it is removed with all that is in it at the end. What a killed
// process left is removed by the next copy to the same place ([CleanUp]).
type Private struct {
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

// OpenPrivate makes a private folder in a folder of this host, which must exist, after it
// removed what killed processes left there. Errors are of kind file.
func OpenPrivate(folder string) (*Private, error) {
	parent, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failFile("copy.folder", folder, err)
	}
	p, err := NewPrivate(parent)
	if err != nil {
		_ = parent.Close()
		return nil, err
	}
	p.owned = true
	return p, nil
}

// NewPrivate is [OpenPrivate] in a folder that is open and stays so.
func NewPrivate(parent *os.Root) (*Private, error) {
	CleanUp(parent)
	var err error
	for range 10 { // another process that cleans up may take a new folder for a left one
		var p *Private
		if p, err = tryPrivate(parent); err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, failFile("copy.private", parent.Name(), err)
}

func tryPrivate(parent *os.Root) (p *Private, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	p = &Private{parent: parent, name: privatePrefix + hex.EncodeToString(random[:])}
	if err := parent.Mkdir(p.name, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.root, err = parent.OpenRoot(p.name); err != nil {
		return nil, err
	}
	if p.lock, err = p.root.OpenFile(lockName, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	taken, err := process.LockFile(p.lock)
	if err == nil && taken {
		_, err = p.lock.WriteString(marker)
	}
	if err != nil {
		return nil, err
	}
	if _, err := p.root.Lstat(lockName); err != nil || !taken { // it was removed before it was locked
		return nil, fs.ErrNotExist
	}
	return p, nil
}

// Close removes the folder. What cannot be removed is left to the next copy.
func (p *Private) Close() {
	if p.root != nil {
		_ = p.root.Close()
	}
	// The lock goes last, so that a left folder always has it; its file is closed before,
	// because Windows removes no open files.
	removeBut(p.parent, p.name, lockName)
	if p.lock != nil {
		_ = p.lock.Close()
	}
	_ = p.parent.RemoveAll(p.name)
	if p.owned {
		_ = p.parent.Close()
	}
}

// removeBut removes what is in a folder, except one file.
func removeBut(parent *os.Root, name, but string) {
	d, err := parent.Open(name)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, n := range names {
		if n != but {
			_ = parent.RemoveAll(name + "/" + n)
		}
	}
}

// CleanUp removes the private folders that killed processes left in a folder, and returns
// how many. Folders of running copies, and others of such a name, stay.
func CleanUp(parent *os.Root) (removed int) {
	d, err := parent.Open(".")
	if err != nil {
		return 0
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, name := range names {
		if strings.HasPrefix(name, privatePrefix) && abandoned(parent, name) && parent.RemoveAll(name) == nil {
			removed++
		}
	}
	return removed
}

// abandoned reports whether no process holds the lock of a folder.
func abandoned(parent *os.Root, name string) bool {
	info, err := parent.Lstat(name)
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := parent.OpenFile(name+"/"+lockName, os.O_RDWR|openSafely, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = parent.Remove(name) // only if it is empty
		return false
	} else if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	free, err := process.LockFile(f)
	if err != nil || !free {
		return false
	}
	var text [len(marker)]byte
	n, _ := f.Read(text[:])
	return strings.HasPrefix(marker, string(text[:n]))
}
