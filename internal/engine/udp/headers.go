package udp

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// Headers of one call differ only in the last byte of their number, except once in
// lowNumbers. A CRC is linear over exclusive or: the effect of that byte on the CRC does
// not depend on the other bytes. So the CRC of one header gives those of its neighbours,
// at a small part of the cost of computing each, and detects the same damage.

const lowNumbers = 256

// lowCRC is the exclusive or of a header's CRC with that of the same header with 0 in the
// last byte of its number, indexed by that byte.
var lowCRC = sync.OnceValue(func() *[lowNumbers]uint32 {
	const lastOfNumber = 15
	var b [headerSize - 4]byte
	var table [lowNumbers]uint32
	zero := crc32.Checksum(b[:], castagnoli())
	for i := range table {
		b[lastOfNumber] = byte(i)
		table[i] = crc32.Checksum(b[:], castagnoli()) ^ zero
	}
	return &table
})

// putAll writes the headers of the consecutive datagrams of size bytes in b: h, and the
// same header with the numbers that follow.
func (h header) putAll(b []byte, size int) {
	low := lowCRC()
	for len(b) >= size {
		h.put(b)
		first, sent := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[16:])
		base := binary.BigEndian.Uint32(b[24:]) ^ low[h.seq%lowNumbers]
		b = b[size:]
		for h.seq++; h.seq%lowNumbers != 0 && len(b) >= size; h.seq++ {
			d := b[:headerSize]
			binary.BigEndian.PutUint64(d, first)
			binary.BigEndian.PutUint64(d[8:], h.seq)
			binary.BigEndian.PutUint64(d[16:], sent)
			binary.BigEndian.PutUint32(d[24:], base^low[h.seq%lowNumbers])
			b = b[size:]
		}
	}
}

// headerReader is parseHeader for the datagrams of one stream, faster for a datagram that
// was sent in the same call as the one before. The zero value is ready to use.
type headerReader struct {
	last  header // the last one parsed
	first uint64 // its first 8 bytes
	base  uint32 // its CRC, if the last byte of its number were 0
	low   *[lowNumbers]uint32
	known bool
}

func (r *headerReader) parse(b []byte) (header, bool) {
	if r.known && len(b) >= headerSize {
		b := b[:headerSize]
		seq := binary.BigEndian.Uint64(b[8:])
		if binary.BigEndian.Uint64(b) == r.first && binary.BigEndian.Uint64(b[16:]) == uint64(r.last.sentNs) &&
			(seq^r.last.seq)/lowNumbers == 0 {
			h := r.last
			h.seq = seq
			return h, binary.BigEndian.Uint32(b[24:]) == r.base^r.low[seq%lowNumbers]
		}
	}
	h, ok := parseHeader(b)
	if ok {
		low := lowCRC()
		*r = headerReader{last: h, first: binary.BigEndian.Uint64(b), base: binary.BigEndian.Uint32(b[24:]) ^ low[h.seq%lowNumbers], low: low, known: true}
	}
	return h, ok
}

// following returns how many of the consecutive datagrams of size bytes in b, from the
// first on, have the headers that putAll writes after h. Usually all of a train do, and
// then none needs to be parsed by itself.
func (r *headerReader) following(h header, b []byte, size int) (n int) {
	if !r.known || h.seq/lowNumbers != r.last.seq/lowNumbers || size < headerSize {
		return 0
	}
	for seq := h.seq + 1; seq%lowNumbers != 0 && len(b) >= size; seq++ {
		d := b[:headerSize]
		if binary.BigEndian.Uint64(d) != r.first || binary.BigEndian.Uint64(d[8:]) != seq ||
			binary.BigEndian.Uint64(d[16:]) != uint64(r.last.sentNs) || binary.BigEndian.Uint32(d[24:]) != r.base^r.low[seq%lowNumbers] {
			break
		}
		b = b[size:]
		n++
	}
	return n
}
