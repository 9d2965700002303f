package tcp

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// payload is the content of a stream: a block that cannot be compressed, repeated.
type payload struct{ twice []byte } // the block twice, so that a piece may begin anywhere in it

// blockSize is the length of the block, and the most that one call sends.
const blockSize = 1 << 20

// Prepare prepares the slow part of the client's [Send] with o. It is safe for concurrent
// use and optional.
func Prepare(o measure.Options) {
	switch {
	case o.Direction == measure.Reverse: // the server sends
	case OptionsOf(o).Verify:
		knownPayload()
	case o.Rate > 0 || len(sock.WriterPaths()) == 0:
		randomPayload()
	case o.Streams > usual.threads: // a writer serves several streams
		sock.PrepareWriters(sock.Processors)
	default:
		sock.PrepareWriters(max(1, o.Streams))
	}
}

// randomPayload is shared by all flows whose content is not verified.
var randomPayload = sync.OnceValue(func() *payload {
	twice := make([]byte, 2*blockSize)
	sock.Incompressible(twice[:blockSize])
	copy(twice[blockSize:], twice)
	return &payload{twice}
})

// repeatingPayload can be compressed.
var repeatingPayload = sync.OnceValue(func() *payload {
	twice := make([]byte, 2*blockSize)
	sock.Repeating(twice)
	return &payload{twice}
})

// knownPayload is known to both ends, to verify every byte: the SHA-256 of the big-endian
// 64-bit numbers 0, 1, 2... one after another.
var knownPayload = sync.OnceValue(func() *payload {
	block := make([]byte, 0, 2*blockSize)
	for i := uint64(0); len(block) < blockSize; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		block = append(block, sum[:]...)
	}
	return &payload{append(block, block...)}
})

// at returns n bytes, at most a block, at an offset in the stream.
func (p *payload) at(offset int64, n int) []byte {
	from := int(offset % blockSize)
	return p.twice[from : from+min(n, blockSize)]
}

// next is at with the signature of supply; it never ends.
func (p *payload) next(offset int64, n int) ([]byte, error) { return p.at(offset, n), nil }
