package filecopy

import (
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"sync"

	"soku/internal/sock"
)

// shifts is at how many places in memory the contents of a file may begin, so that
// neighbouring files differ.
const shifts = 1021

// contents is what generated files hold, and files from memory: bytes that cannot be
// compressed, aligned for direct I/O. They never change.
var contents = sync.OnceValue(func() []byte {
	b := aligned(shifts*alignment + blockMost)
	sock.Incompressible(b)
	return b
})

// hasher is the name of a checksum, as the option checksum has it.
type hasher string

// make returns a checksum of contents in the making; it counts nothing for off.
func (h hasher) make() *sum {
	switch h {
	case "sha256":
		return &sum{sha256.New()}
	case "crc32c":
		return &sum{crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	}
	return &sum{}
}

// size is the length of the checksum, bytes.
func (h hasher) size() int {
	switch h {
	case "sha256":
		return sha256.Size
	case "crc32c":
		return crc32.Size
	}
	return 0
}

// sum is a checksum of one file after the other.
type sum struct{ h hash.Hash }

func (s *sum) reset() {
	if s.h != nil {
		s.h.Reset()
	}
}

func (s *sum) write(b []byte) {
	if s.h != nil {
		_, _ = s.h.Write(b) // never fails
	}
}

// counts reports whether there is a checksum at all.
func (s *sum) counts() bool { return s.h != nil }

// sum returns the checksum of what was written since the last reset; nil without one.
func (s *sum) sum() []byte {
	if s.h == nil {
		return nil
	}
	return s.h.Sum(nil)
}
