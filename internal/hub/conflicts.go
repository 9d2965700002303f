package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"soku/internal/durable"
	"soku/internal/measure"
)

// Bounds of a folder of conflicts.
const (
	maxConflicts     = 1000
	maxConflictBytes = 1 << 30
)

// Conflicts is a folder of documents whose identities other documents have, RESULT.AGENT.HASH.json.zst each.
// Its methods may be called by several goroutines.
type Conflicts struct {
	folder string

	mu    sync.Mutex
	files int
	bytes int64
}

// OpenConflicts makes the folder if there is none. An error has kind store.
func OpenConflicts(folder string) (*Conflicts, error) {
	c := &Conflicts{folder: folder}
	failed := func(err error) (*Conflicts, error) {
		return nil, measure.Fail(measure.KindStore, "hub.conflicts.open", measure.Figures{"folder": folder, "cause": err})
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return failed(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return failed(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			c.files, c.bytes = c.files+1, c.bytes+info.Size()
		}
	}
	return c, nil
}

// Keep keeps a document, durably. One that is there already is kept. An error has kind store; a folder that is
// full takes no more, so that agents keep their documents.
func (c *Conflicts) Keep(a *Arrival) error {
	sum := sha256.Sum256(a.Document)
	name := filepath.Join(c.folder, strings.Join([]string{a.Result.ID, a.Agent, hex.EncodeToString(sum[:6]), "json.zst"}, "."))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	if c.files >= maxConflicts || c.bytes+int64(len(a.Document)) > maxConflictBytes {
		return measure.Fail(measure.KindStore, "hub.conflicts.full", measure.Figures{"folder": c.folder, "files": c.files, "bytes": c.bytes})
	}
	if err := durable.WriteFile(name, a.Document, 0o600); err != nil {
		return measure.Fail(measure.KindStore, "hub.conflicts.write", measure.Figures{"folder": c.folder, "cause": err})
	}
	c.files, c.bytes = c.files+1, c.bytes+int64(len(a.Document))
	return nil
}
