// Package output keeps what a program under test writes, and waits for words in it.
package output

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"
)

// Buffer keeps what is written to it. The zero value is empty. It is safe for concurrent use.
type Buffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	awaited []awaited
}

type awaited struct {
	words []byte
	there chan struct{}
}

// Write keeps a copy of p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	b.awaited = slices.DeleteFunc(b.awaited, func(a awaited) bool {
		there := bytes.Contains(b.text.Bytes(), a.words)
		if there {
			close(a.there)
		}
		return there
	})
	return n, err
}

// String is all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Reset forgets what was written.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// Has returns a channel that is closed when words are in what was written.
func (b *Buffer) Has(words string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := awaited{[]byte(words), make(chan struct{})}
	if bytes.Contains(b.text.Bytes(), a.words) {
		close(a.there)
	} else {
		b.awaited = append(b.awaited, a)
	}
	return a.there
}

// limit is how long words may take on a busy machine: longer than any wait of the program, so
// that a failure shows what it waited for.
const limit = 90 * time.Second

// Await waits until words are in what was written. The test fails after 90 s.
func (b *Buffer) Await(t testing.TB, words string) {
	t.Helper()
	select {
	case <-b.Has(words):
	case <-time.After(limit):
		t.Fatalf("no %q in %s", words, b)
	}
}
