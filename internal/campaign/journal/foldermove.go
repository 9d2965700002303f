package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"soku/internal/durable"
	"soku/internal/measure"
)

// Adopt copies the journal to another file first, so that a kill leaves no part of it.
func (f Folder) Adopt(id string, journal io.Reader) (adopted bool, err error) {
	dir, err := f.dir(id)
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, Failure("journal.make_folder", dir, err)
	}
	lock, err := lock(id, dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := durable.Replace(path, 0o600, func(file *os.File) error {
		number, err := copyJournal(file, journal)
		if err == nil && number > 0 {
			err = f.raise(number)
		}
		return err
	}); err != nil {
		return false, Failure("journal.make", path, err)
	}
	durable.SyncFolder(string(f))
	return true, nil
}

// copyJournal writes the whole records of a journal, and returns the number of its campaign, or
// 0 if it has none.
func copyJournal(to interface {
	io.Writer
	Truncate(size int64) error
}, journal io.Reader) (number int, err error) {
	whole, err := Read(io.TeeReader(journal, to), func(r Record) error {
		if r.Plan != nil {
			number = r.Plan.Number
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return number, to.Truncate(whole)
}

// Remove deletes the folder of the campaign.
func (f Folder) Remove(id string) error {
	dir, err := f.dir(id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return UnknownCampaign(id, string(f))
	}
	lock, err := lock(id, dir)
	if err != nil {
		return err
	}
	// Without its journal the campaign cannot be opened; Windows keeps the file of a lock that is held.
	err = os.Remove(filepath.Join(dir, fileName))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if rerr := lock.Release(); err == nil {
		err = rerr
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "journal.remove", measure.Figures{"path": dir, "cause": err})
	}
	return nil
}
