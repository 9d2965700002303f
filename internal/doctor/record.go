package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"soku/internal/measure"
	"soku/internal/process"
)

// RecordFile is the name of a [Record] in the data folder.
const RecordFile = "doctor-changes.jsonl"

// Record has the changes that [Fix] made, a line of JSON each, written before the change: what a
// kill leaves is enough to undo it. One process has it at a time.
type Record struct {
	file    *os.File
	entries []entry
	removed bool // the name may be another record's since
}

// entry is a line of a record.
type entry struct {
	Version int       `json:"v"`
	At      time.Time `json:"at"`
	Boot    string    `json:"boot_id,omitempty"` // a restart of the system undoes the change
	Change
}

const (
	recordVersion = 1
	mostRecord    = 1 << 20 // bytes
)

// OpenRecord opens the record in a folder that exists, or makes it. An error has kind refused
// if another process has the record open, kind file if it is malformed or not the user's own,
// and otherwise kind store.
func OpenRecord(folder string) (*Record, error) {
	name := filepath.Join(folder, RecordFile)
	broken := func(err error) error {
		return measure.Fail(measure.KindStore, "doctor.record.open", measure.Figures{"file": name, "cause": err})
	}
	for {
		// A user who may write to the folder must not make root write to another file by a link, or
		// change settings by another record.
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, broken(errors.New("not a regular file"))
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return nil, broken(err)
		}
		if info, err := f.Stat(); err == nil && !private(info) {
			_ = f.Close()
			return nil, measure.Fail(measure.KindFile, "doctor.record.foreign", measure.Figures{"file": name})
		}
		free, err := process.LockFile(f)
		if err != nil || !free {
			_ = f.Close()
			if err != nil {
				return nil, broken(err)
			}
			return nil, measure.Fail(measure.KindRefused, "doctor.record.busy", measure.Figures{"file": name})
		}
		if !isStill(f, name) { // undone and removed before it was locked
			_ = f.Close()
			continue
		}
		r := &Record{file: f}
		if err := r.read(name); err != nil {
			_ = f.Close()
			return nil, err
		}
		return r, nil
	}
}

// isStill reports whether the file has the name.
func isStill(f *os.File, name string) bool {
	opened, err := f.Stat()
	named, other := os.Lstat(name)
	return err == nil && other == nil && os.SameFile(opened, named)
}

// HasRecord reports whether there is one in the folder.
func HasRecord(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, RecordFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// read reads the lines. A last one without its end was being written when the process was
// killed, before the change: the next one is written over it, and what is left behind that is
// without an end, too.
func (r *Record) read(name string) error {
	b, err := io.ReadAll(io.LimitReader(r.file, mostRecord+1))
	if err != nil {
		return measure.Fail(measure.KindStore, "doctor.record.open", measure.Figures{"file": name, "cause": err})
	}
	if len(b) > mostRecord {
		return measure.Fail(measure.KindFile, "doctor.record.size", measure.Figures{"file": name, "limit_bytes": mostRecord})
	}
	whole := b[:bytes.LastIndexByte(b, '\n')+1]
	entries, line, err := parseRecord(whole)
	if err != nil {
		return measure.Fail(measure.KindFile, "doctor.record.line", measure.Figures{"file": name, "line": line, "cause": err})
	}
	r.entries = entries
	if _, err = r.file.Seek(int64(len(whole)), io.SeekStart); err != nil {
		return measure.Fail(measure.KindStore, "doctor.record.open", measure.Figures{"file": name, "cause": err})
	}
	return nil
}

// parseRecord reads whole lines; line is the number of the one with an error.
func parseRecord(b []byte) (entries []entry, line int, err error) {
	for text := range bytes.Lines(b) {
		line++
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, line, err
		}
		if e.Version != recordVersion {
			return nil, line, errors.New("of another version of soku")
		}
		if err := e.check(); err != nil {
			return nil, line, err
		}
		entries = append(entries, e)
	}
	return entries, line, nil
}

// add writes a change to the disk.
func (r *Record) add(c Change, boot string) error {
	e := entry{Version: recordVersion, At: time.Now().UTC(), Boot: boot, Change: c}
	b, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(b, '\n'))
	}
	if err == nil {
		err = r.file.Sync()
	}
	if err == nil && len(r.entries) == 0 {
		syncFolder(filepath.Dir(r.file.Name()))
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "doctor.record.write", measure.Figures{"file": r.file.Name(), "cause": err})
	}
	r.entries = append(r.entries, e)
	return nil
}

// syncFolder has the name of a new file outlive a crash of the system, where folders can be synced.
func syncFolder(name string) {
	if d, err := os.Open(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Close gives the record back. One without changes is removed.
func (r *Record) Close() {
	if len(r.entries) == 0 && !r.removed {
		_ = os.Remove(r.file.Name())
	}
	_ = r.file.Close() // each line was synced
}
