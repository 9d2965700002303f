package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"soku/internal/measure"
	"soku/internal/process"
)

// Folder keeps journals on a disk: a folder of its own for each campaign, named
// by its identity, with the journal and the lock as files.
type Folder string

const fileName = "journal.ndjson"

// File is the journal in the folder of a campaign.
func File(dir string) string { return filepath.Join(dir, fileName) }

// Name is the path of the folder.
func (f Folder) Name() string { return string(f) }

// IDs are the names of the folders, without files of the place itself.
func (f Folder) IDs() ([]string, error) {
	entries, err := os.ReadDir(string(f)) // in order
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Failure("journal.list", string(f), err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Create makes the campaign's folder and its files.
func (f Folder) Create(id string) (Journal, Lock, error) {
	dir, err := f.dir(id)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, Failure("journal.make_folder", dir, err)
	}
	return hold(id, dir, func() (*fileJournal, error) { return createJournal(dir) })
}

// Open holds a campaign and reads its journal.
func (f Folder) Open(id string, visit func(Record) error) (Journal, Lock, error) {
	dir, err := f.dir(id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(File(dir)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, UnknownCampaign(id, string(f))
	}
	return hold(id, dir, func() (*fileJournal, error) { return openJournal(dir, visit) })
}

// dir is the folder of a campaign. Every method gets it from here.
func (f Folder) dir(id string) (string, error) {
	if f == "" {
		return "", UnknownCampaign(id, "")
	}
	if err := CheckIdentity(id, string(f)); err != nil {
		return "", err
	}
	return filepath.Join(string(f), id), nil
}

// hold takes the lock and then the journal.
func hold(id, dir string, open func() (*fileJournal, error)) (Journal, Lock, error) {
	lock, err := lock(id, dir)
	if err != nil {
		return nil, nil, err
	}
	j, err := open()
	if err != nil {
		_ = lock.Release()
		return nil, nil, err
	}
	return j, lock, nil
}

// Read visits the records of a journal. An error of the journal has the path of its file.
func (f Folder) Read(id string, visit func(Record) error) error {
	dir, err := f.dir(id)
	if err != nil {
		return err
	}
	path := File(dir)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return UnknownCampaign(id, string(f))
	}
	if err != nil {
		return Failure("journal.open", path, err)
	}
	defer file.Close()
	var visited error
	_, err = Read(file, func(r Record) error {
		visited = visit(r)
		return visited
	})
	if err != nil && visited == nil {
		return Failure("journal.read", path, err)
	}
	return err
}

// fileLock is a locked file. The system gives the lock back when the process ends.
type fileLock struct{ f *os.File }

func (l fileLock) Release() error { return errors.Join(process.UnlockFile(l.f), l.f.Close()) }

// lock holds a campaign for this process. The process' number in the file is for
// people; what counts is the lock on it.
func lock(id, dir string) (Lock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Failure("journal.lock", File(dir), err)
	}
	ok, err := process.LockFile(file)
	if !ok {
		holder := make([]byte, 32)
		n, _ := file.ReadAt(holder, 0)
		_ = file.Close()
		if err != nil {
			return nil, Failure("journal.lock", File(dir), err)
		}
		return nil, measure.Fail(measure.KindRefused, "campaign.held", measure.Figures{"holder": strings.TrimSpace(string(holder[:n])), "campaign": id})
	}
	_ = file.Truncate(0)
	_, _ = file.WriteAt([]byte("pid "+strconv.Itoa(os.Getpid())+"\n"), 0)
	return fileLock{file}, nil
}

// Failure is the failure of a code, of kind store, at a path.
func Failure(code, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = measure.Fail(measure.KindStore, "journal.disk_full", nil).WithCause(err)
	}
	e := measure.Fail(measure.KindStore, code, measure.Figures{"path": path, "cause": err})
	if e.Hint == "" {
		return e.WithHintCode("journal.check_folder", nil)
	}
	return e
}
