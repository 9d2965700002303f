package tcp

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// payload is what a stream carries: a block that nothing on the path can
// compress, over and over.
type payload struct{ twice []byte } // the block, and itself again, so that a piece may begin anywhere in it

// blockSize is the length of a payload, and the most that goes at once.
const blockSize = 1 << 20

// Prepare makes ahead what takes long about a [Send] with o. It may run beside
// anything, and Send does without it.
func Prepare(o measure.Options) {
	switch {
	case o.Verify:
		knownPayload()
	case o.Rate > 0 || len(sock.WriterPaths()) == 0:
		randomPayload()
	default:
		sock.PrepareWriter()
	}
}

// randomPayload is the one of all flows whose bytes nobody looks at.
var randomPayload = sync.OnceValue(func() *payload {
	twice := make([]byte, 2*blockSize)
	sock.Incompressible(twice[:blockSize])
	copy(twice[blockSize:], twice)
	return &payload{twice}
})

// repeatingPayload is the one that can be compressed.
var repeatingPayload = sync.OnceValue(func() *payload {
	twice := make([]byte, 2*blockSize)
	sock.Repeating(twice)
	return &payload{twice}
})

// knownPayload is the one that both ends know when every byte is checked: the
// SHA-256 of the big-endian 64-bit numbers 0, 1, 2... one after another.
var knownPayload = sync.OnceValue(func() *payload {
	block := make([]byte, 0, 2*blockSize)
	for i := uint64(0); len(block) < blockSize; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		block = append(block, sum[:]...)
	}
	return &payload{append(block, block...)}
})

// at is n bytes, at most a block, from a place in the stream on.
func (p *payload) at(offset int64, n int) []byte {
	from := int(offset % blockSize)
	return p.twice[from : from+min(n, blockSize)]
}

// next is at, of a supply that has no end.
func (p *payload) next(offset int64, n int) ([]byte, error) { return p.at(offset, n), nil }
