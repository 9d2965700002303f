package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"soku/internal/durable"
	"soku/internal/measure"
)

// fileJournal is a journal in a file, one line a record, synced after each.
type fileJournal struct {
	f    *os.File
	path string
	size int64 // bytes of whole records

	made os.FileInfo // of f: what is at path must be the same file
}

// Append writes records and returns when they are on disk. If that fails, what
// was written of them is taken back, so that the journal stays whole.
func (j *fileJournal) Append(records ...Record) error {
	text, err := encodeRecords(records)
	if err != nil {
		return err
	}
	if _, err = j.f.WriteAt(text, j.size); err == nil {
		err = j.f.Sync()
	}
	if now, statErr := os.Stat(j.path); errors.Is(statErr, fs.ErrNotExist) || statErr == nil && !os.SameFile(now, j.made) {
		return measure.Fail(measure.KindStore, "journal.gone", measure.Figures{"path": j.path})
	}
	if err != nil {
		_ = j.f.Truncate(j.size)
		return Failure("journal.write", j.path, err)
	}
	j.size += int64(len(text))
	return nil
}

func (j *fileJournal) Read(visit func(Record) error) error {
	_, err := Read(io.NewSectionReader(j.f, 0, j.size), visit)
	return err
}

func (j *fileJournal) Name() string { return j.path }

func (j *fileJournal) Close() error { return j.f.Close() }

// createJournal makes the file, and sees that it and its folder are on disk.
func createJournal(dir string) (*fileJournal, error) {
	path := filepath.Join(dir, fileName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // what commands printed is in it
	if err != nil {
		return nil, Failure("journal.make", path, err)
	}
	made, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, Failure("journal.make", path, err)
	}
	durable.SyncFolder(dir)
	durable.SyncFolder(filepath.Dir(dir))
	return &fileJournal{f: f, path: path, made: made}, nil
}

// openJournal reads a journal to its end, drops a record that was cut off, and
// leaves the file ready to be appended to.
func openJournal(dir string, visit func(Record) error) (*fileJournal, error) {
	path := filepath.Join(dir, fileName)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, Failure("journal.open", path, err)
	}
	whole, err := Read(f, visit)
	if err == nil {
		err = f.Truncate(whole)
	}
	var made os.FileInfo
	if err == nil {
		made, err = f.Stat()
	}
	if err != nil {
		_ = f.Close()
		return nil, Failure("journal.read", path, err)
	}
	return &fileJournal{f: f, path: path, size: whole, made: made}, nil
}
