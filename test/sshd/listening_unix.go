//go:build unix

package sshd

import (
	"bytes"
	"sync"
)

// listening is a log that says when sshd listens.
type listening struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan struct{} // nil once it is closed
}

// Write keeps the first 64 KiB.
func (l *listening) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() < 64<<10 {
		l.text.Write(p)
	}
	if l.ready != nil && bytes.Contains(l.text.Bytes(), []byte("Server listening on ")) {
		close(l.ready)
		l.ready = nil
	}
	return len(p), nil
}

func (l *listening) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
