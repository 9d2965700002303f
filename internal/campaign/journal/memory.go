package journal

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"soku/internal/measure"
)

// Memory keeps journals in memory, for tests of what uses them. They last as
// long as it does. The zero value is ready for use.
type Memory struct {
	mu       sync.Mutex
	journals map[string]*memoryJournal
	number   int // the highest so far
}

// memoryJournal is a journal and its lock.
type memoryJournal struct {
	place *Memory
	id    string
	text  []byte // records as in a file
	held  bool
}

// Name is "memory".
func (m *Memory) Name() string { return "memory" }

// IDs are the identities in order.
func (m *Memory) IDs() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.journals)), nil
}

// Number counts.
func (m *Memory) Number() (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	return m.number, nil
}

// Create begins a journal and holds it.
func (m *Memory) Create(id string) (Journal, Lock, error) {
	if err := CheckIdentity(id, m.Name()); err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journals[id] != nil {
		return nil, nil, Failure("journal.make", id, os.ErrExist)
	}
	j := &memoryJournal{place: m, id: id, held: true}
	m.add(j)
	return j, j, nil
}

// add keeps a journal; the caller holds m.mu.
func (m *Memory) add(j *memoryJournal) {
	if m.journals == nil {
		m.journals = map[string]*memoryJournal{}
	}
	m.journals[j.id] = j
}

// Open holds a campaign and reads its journal.
func (m *Memory) Open(id string, visit func(Record) error) (Journal, Lock, error) {
	j, err := m.hold(id)
	if err != nil {
		return nil, nil, err
	}
	if err := j.Read(visit); err != nil {
		_ = j.Release()
		return nil, nil, Failure("journal.read", id, err)
	}
	return j, j, nil
}

// Bytes is a copy of a journal as a file would have it, or nil if there is none.
func (m *Memory) Bytes(id string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.journals[id]; j != nil {
		return bytes.Clone(j.text)
	}
	return nil
}

func (m *Memory) hold(id string) (*memoryJournal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.journals[id]
	switch {
	case j == nil:
		return nil, UnknownCampaign(id, m.Name())
	case j.held:
		return nil, measure.Fail(measure.KindRefused, "campaign.held_here", measure.Figures{"campaign": id})
	}
	j.held = true
	return j, nil
}

// Read visits the records of a journal.
func (m *Memory) Read(id string, visit func(Record) error) error {
	m.mu.Lock()
	j := m.journals[id]
	m.mu.Unlock()
	if j == nil {
		return UnknownCampaign(id, m.Name())
	}
	return j.Read(visit)
}

// Adopt copies the whole records of a journal.
func (m *Memory) Adopt(id string, journal io.Reader) (adopted bool, err error) {
	if err := CheckIdentity(id, m.Name()); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journals[id] != nil {
		return false, nil
	}
	var text memoryText
	number, err := copyJournal(&text, journal)
	if err != nil {
		return false, Failure("journal.make", id, err)
	}
	m.number = max(m.number, number)
	m.add(&memoryJournal{place: m, id: id, text: text.Bytes()})
	return true, nil
}

// Remove deletes a journal.
func (m *Memory) Remove(id string) error {
	if _, err := m.hold(id); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.journals, id)
	return nil
}

// memoryText is the text of a journal that is adopted.
type memoryText struct{ bytes.Buffer }

func (t *memoryText) Truncate(size int64) error {
	t.Buffer.Truncate(int(size))
	return nil
}

func (j *memoryJournal) Append(records ...Record) error {
	text, err := encodeRecords(records)
	if err != nil {
		return err
	}
	j.place.mu.Lock()
	defer j.place.mu.Unlock()
	if !j.held {
		return measure.Fail(measure.KindRefused, "journal.closed", measure.Figures{"journal": j.id})
	}
	j.text = append(j.text, text...)
	return nil
}

func (j *memoryJournal) Read(visit func(Record) error) error {
	j.place.mu.Lock()
	text := j.text[:len(j.text):len(j.text)]
	j.place.mu.Unlock()
	_, err := Read(bytes.NewReader(text), visit)
	return err
}

func (j *memoryJournal) Name() string { return j.id }

func (j *memoryJournal) Close() error { return nil }

func (j *memoryJournal) Release() error {
	j.place.mu.Lock()
	defer j.place.mu.Unlock()
	j.held = false
	return nil
}
