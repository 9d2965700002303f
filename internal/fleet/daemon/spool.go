package daemon

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/shirou/gopsutil/v4/disk"

	"soku/internal/durable"
	"soku/internal/measure"
)

// spool are the results that the hub does not have yet: a file RESULT.zst each, written whole and to
// disk. It is safe for concurrent use.
type spool struct {
	dir  string
	most int64 // bytes; a result of a trial that was begun below is kept all the same

	mu     sync.Mutex
	files  []spooled       // the oldest first
	taken  map[string]bool // identities that the hub has, of the last ones
	order  []string        // of taken, the oldest first
	bytes  int64
	broken error // the last write failed
}

type spooled struct {
	result string
	bytes  int64
}

const (
	spoolExt     = ".zst"
	spoolMost    = 1 << 30
	spoolPart    = 10       // the spool has at most this part of the disk: a tenth
	leastFree    = 32 << 20 // bytes of the disk; below, no trial is begun
	takenMost    = 10_000
	resultIDMost = 64 // characters
)

// validResult reports whether a text can be the identity of a result: it names a file and is a word
// of a subject.
func validResult(id string) bool {
	return id != "" && len(id) <= resultIDMost && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// openSpool finds what an earlier process left, and removes what it had not finished. most of 0 is the
// usual bound.
func openSpool(dir string, most int64) (*spool, error) {
	if most <= 0 {
		most = spoolMost
		if d, err := disk.Usage(dir); err == nil && d.Total > 0 {
			most = min(most, int64(d.Total/spoolPart))
		}
	}
	s := &spool{dir: dir, most: most, taken: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, stateFailure(dir, err)
	}
	age := map[string]int64{}
	for _, e := range entries {
		id, whole := strings.CutSuffix(e.Name(), spoolExt)
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case whole && validResult(id):
			s.files = append(s.files, spooled{id, info.Size()})
			s.bytes += info.Size()
			age[id] = info.ModTime().UnixNano()
		case strings.HasSuffix(e.Name(), ".part"):
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(s.files, func(a, b spooled) int {
		return cmp.Or(cmp.Compare(age[a.result], age[b.result]), cmp.Compare(a.result, b.result))
	})
	return s, nil
}

func (s *spool) path(result string) string { return filepath.Join(s.dir, result+spoolExt) }

// put keeps a document, on disk when it returns.
func (s *spool) put(result string, document []byte) error {
	err := durable.WriteFile(s.path(result), document, 0o600)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken = err; err != nil {
		return measure.Fail(measure.KindStore, "daemon.spool.write", measure.Figures{"folder": s.dir, "cause": err})
	}
	s.files = append(s.files, spooled{result, int64(len(document))})
	s.bytes += int64(len(document))
	return nil
}

// forget deletes the document of a result that is measured again, if it has that SHA-256.
func (s *spool) forget(result, sum string) error {
	document, err := os.ReadFile(s.path(result))
	switch got := sha256.Sum256(document); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && hex.EncodeToString(got[:]) != sum:
		return nil
	case err != nil:
		return stateFailure(s.dir, err)
	}
	return s.delete(result)
}

// delete deletes a document.
func (s *spool) delete(result string) error {
	if err := os.Remove(s.path(result)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return measure.Fail(measure.KindStore, "daemon.spool.write", measure.Figures{"folder": s.dir, "cause": err})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.files, func(f spooled) bool { return f.result == result }); i >= 0 {
		s.bytes -= s.files[i].bytes
		s.files = slices.Delete(s.files, i, i+1)
	}
	return nil
}

// remove deletes a document that the hub has.
func (s *spool) remove(result string) error {
	if err := s.delete(result); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken[result] {
		s.taken[result] = true
		s.order = append(s.order, result)
	}
	if len(s.order) > takenMost {
		delete(s.taken, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	return nil
}

// has reports whether the result is in the spool, or was and the hub has it.
func (s *spool) has(result string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[result] || slices.ContainsFunc(s.files, func(f spooled) bool { return f.result == result })
}

// waiting are the documents, the oldest first, and the bytes of all.
func (s *spool) waiting() (files []spooled, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.files), s.bytes
}

// full is why no trial is begun, or nil. It is of kind refused.
func (s *spool) full() error {
	s.mu.Lock()
	bytes, broken := s.bytes, s.broken
	s.mu.Unlock()
	if bytes >= s.most {
		return measure.Fail(measure.KindRefused, "daemon.spool.full", measure.Figures{"bytes": bytes, "limit": s.most})
	}
	d, err := disk.Usage(s.dir)
	if err == nil && d.Free < leastFree {
		return measure.Fail(measure.KindRefused, "daemon.spool.disk", measure.Figures{"folder": s.dir, "free": int64(d.Free)})
	}
	if broken != nil {
		if broken = durable.Try(filepath.Join(s.dir, "try")); broken != nil {
			return measure.Fail(measure.KindRefused, "daemon.spool.broken", measure.Figures{"cause": broken})
		}
		s.mu.Lock()
		s.broken = nil
		s.mu.Unlock()
	}
	return nil
}
