package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"soku/internal/durable"
	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/process"
)

// Names in the folder of an agent.
const (
	lockName  = "lock"
	keyName   = "key"
	joinName  = "agent.json"
	usageName = "usage.json"
	spoolName = "spool"
)

// maxStateFile is the size in bytes of the largest file that is read from the folder, but results.
const maxStateFile = 1 << 20

// membership is what an agent remembers of its hub, in agent.json.
type membership struct {
	URL  string    `json:"url"`
	Pin  fleet.Pin `json:"pin,omitempty"`
	Name string    `json:"name,omitempty"`

	Hub          string            `json:"hub,omitempty"` // identity
	JWT          string            `json:"jwt,omitempty"` // empty: not joined
	NATS         []string          `json:"nats,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Certificates string            `json:"certificates,omitempty"`
	RenewAt      time.Time         `json:"renew_at,omitzero"` // on the clock of this host
}

// state is the folder of an agent. It is safe for concurrent use.
type state struct {
	dir  string
	lock *os.File
	key  nkeys.KeyPair
	id   string // its public half
	seed []byte // of the key, where that is not on the disk yet
	lost bool   // there is a key, but not what is remembered: a hub may know the agent

	mu sync.Mutex
	m  membership
}

// openState makes the folder, the key and the lock where they are missing.
func openState(dir string) (_ *state, err error) {
	s := &state{dir: dir}
	if err := os.MkdirAll(filepath.Join(dir, spoolName), 0o700); err != nil {
		return nil, stateFailure(dir, err)
	}
	if s.lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, stateFailure(dir, err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	switch free, err := process.LockFile(s.lock); {
	case err != nil:
		return nil, stateFailure(dir, err)
	case !free:
		return nil, measure.Fail(measure.KindRefused, "daemon.state.locked", measure.Figures{"folder": dir})
	}
	if err := s.readKey(); err != nil {
		return nil, err
	}
	b, err := readSmall(filepath.Join(dir, joinName))
	if errors.Is(err, fs.ErrNotExist) {
		s.lost = s.seed == nil
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s.m)
	}
	if err != nil {
		return nil, stateFailure(dir, err)
	}
	return s, nil
}

func (s *state) close() {
	_ = process.UnlockFile(s.lock)
	_ = s.lock.Close()
}

// readKey reads the key, or makes one. It depends on nothing of the host, so that hosts with copies
// of one disk image have different keys.
func (s *state) readKey() error {
	name := filepath.Join(s.dir, keyName)
	seed, err := readSmall(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s.key, err = nkeys.CreateUser(); err != nil {
			return stateFailure(s.dir, err)
		}
		s.seed, err = s.key.Seed()
	case err == nil:
		s.key, err = nkeys.FromSeed(seed)
	}
	if err == nil {
		s.id, err = s.key.PublicKey()
	}
	if err == nil && !fleet.ValidAgent(s.id) {
		err = nkeys.ErrInvalidUserSeed
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "daemon.state.key", measure.Figures{"file": name, "cause": err})
	}
	return nil
}

// keepKey writes a key that was made to the disk: before a hub knows it, and not where the agent cannot ask one.
func (s *state) keepKey() error {
	if s.seed == nil {
		return nil
	}
	name := filepath.Join(s.dir, keyName)
	if err := durable.WriteFile(name, s.seed, 0o600); err != nil {
		return measure.Fail(measure.KindStore, "daemon.state.key", measure.Figures{"file": name, "cause": err})
	}
	s.seed = nil
	return nil
}

// membership is what is remembered of the hub.
func (s *state) membership() membership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m
}

// expect uses what was given in place of what is remembered, for this process.
func (s *state) expect(m membership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m = m
}

// remember keeps it, on disk.
func (s *state) remember(m membership) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(joinName, m); err != nil {
		return err
	}
	s.m = m
	return nil
}

func (s *state) write(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = durable.WriteFile(filepath.Join(s.dir, name), append(b, '\n'), 0o600)
	}
	if err != nil {
		return stateFailure(s.dir, err)
	}
	return nil
}

func stateFailure(dir string, err error) error {
	return measure.Fail(measure.KindStore, "daemon.state.folder", measure.Figures{"folder": dir, "cause": err})
}

// readSmall reads a file of the folder.
func readSmall(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxStateFile+1))
	if err == nil && len(b) > maxStateFile {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("too large")}
	}
	return b, err
}
