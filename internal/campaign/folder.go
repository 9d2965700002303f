package campaign

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"soku/internal/measure"
)

// Folder keeps journals on a disk: a folder of its own for each campaign, named
// by its identity, with the journal and the lock as files.
type Folder string

const journalName = "journal.ndjson"

// Name is the path of the folder.
func (f Folder) Name() string { return string(f) }

// IDs are the names of the folders.
func (f Folder) IDs() ([]string, error) {
	entries, err := os.ReadDir(string(f)) // in order
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, journalFailure("list the journals in", string(f), err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out, nil
}

// Create makes the campaign's folder and its files.
func (f Folder) Create(id string) (Journal, Lock, error) {
	dir := filepath.Join(string(f), id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, journalFailure("make the folder of the journal", dir, err)
	}
	return f.hold(id, func() (*fileJournal, error) { return createJournal(dir) })
}

// Open holds a campaign and reads its journal.
func (f Folder) Open(id string, visit func(Record) error) (Journal, Lock, error) {
	if !filepath.IsLocal(id) {
		return nil, nil, unknownCampaign(id, string(f))
	}
	dir := filepath.Join(string(f), id)
	if _, err := os.Stat(filepath.Join(dir, journalName)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, unknownCampaign(id, string(f))
	}
	return f.hold(id, func() (*fileJournal, error) { return openJournal(dir, visit) })
}

// hold takes the lock and then the journal.
func (f Folder) hold(id string, open func() (*fileJournal, error)) (Journal, Lock, error) {
	lock, err := f.lock(id)
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

// Read visits the records of a journal.
func (f Folder) Read(id string, visit func(Record) error) error {
	path := filepath.Join(string(f), id, journalName)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return unknownCampaign(id, string(f))
	}
	if err != nil {
		return journalFailure("open the journal", path, err)
	}
	defer file.Close()
	_, err = ReadJournal(file, visit)
	return err
}

// fileLock is a locked file. The system gives the lock back when the process ends.
type fileLock struct{ f *os.File }

func (l fileLock) Release() error { return l.f.Close() }

// lock holds a campaign for this process. The process' number in the file is for
// people; what counts is the lock on it.
func (f Folder) lock(id string) (Lock, error) {
	path := filepath.Join(string(f), id, "lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, journalFailure("lock the journal", filepath.Join(string(f), id, journalName), err)
	}
	ok, err := lockFile(file)
	if !ok {
		holder := make([]byte, 32)
		n, _ := file.ReadAt(holder, 0)
		_ = file.Close()
		if err != nil {
			return nil, journalFailure("lock the journal", filepath.Join(string(f), id, journalName), err)
		}
		return nil, heldBy(strings.TrimSpace(string(holder[:n])), id)
	}
	_ = file.Truncate(0)
	_, _ = file.WriteAt([]byte("pid "+strconv.Itoa(os.Getpid())+"\n"), 0)
	return fileLock{file}, nil
}

// journalFailure is the error of kind store for something that failed at a path.
func journalFailure(doing, path string, err error) error {
	why, hint := err.Error(), "check the folder and its rights, or use another with SOKU_DATA"
	if errors.Is(err, syscall.ENOSPC) {
		why, hint = "the disk is full", "free some space and go on with soku run --resume; every finished trial before this is kept"
	}
	var reported *measure.Error
	if errors.As(err, &reported) && reported.Hint != "" {
		hint = reported.Hint
	}
	return measure.Errorf(measure.KindStore, "%s %s: %s", doing, path, why).WithHint("%s", hint)
}
