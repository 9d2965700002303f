package udp

import (
	"encoding/binary"
	"hash/crc32"

	"soku/internal/measure/option"
)

// Every datagram begins with this header, in network byte order. Payload that cannot
// be compressed follows, up to the size of the trial.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      magic "skU" 0x01                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            flags              |            stream             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                       sequence number                         +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+        send time, ns on the sender's monotonic clock          +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|              CRC-32C of the 24 bytes before                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// Numbers count from 0 in each stream. Flag bit 0 is FIN: the stream has
// ended, and the sequence number is the number of its datagrams. The last byte
// of the magic is the version. The CRC prevents that a foreign or damaged datagram is
// counted as a jump in the numbers.
type header struct {
	fin    bool
	stream uint16
	seq    uint64
	sentNs int64
}

const (
	headerSize = 28
	magic      = 's'<<24 | 'k'<<16 | 'U'<<8 | 1
	flagFin    = 1
)

// The header must fit the smallest datagram that a trial may ask for.
var _ [option.MinUDPPayload - headerSize]struct{}

// castagnoli returns the CRC table. It is made at the first call, and not at program
// start, because that takes longer than the rest of the package's initialisation.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// put writes h to the first headerSize bytes of b.
func (h header) put(b []byte) {
	b = b[:headerSize]
	flags := uint16(0)
	if h.fin {
		flags = flagFin
	}
	binary.BigEndian.PutUint32(b, magic)
	binary.BigEndian.PutUint16(b[4:], flags)
	binary.BigEndian.PutUint16(b[6:], h.stream)
	binary.BigEndian.PutUint64(b[8:], h.seq)
	binary.BigEndian.PutUint64(b[16:], uint64(h.sentNs))
	binary.BigEndian.PutUint32(b[24:], crc32.Checksum(b[:24], castagnoli()))
}

// parseHeader parses the header of a datagram, and returns false if the datagram is foreign or
// damaged, or has another version.
func parseHeader(b []byte) (header, bool) {
	if len(b) < headerSize || binary.BigEndian.Uint32(b) != magic ||
		binary.BigEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli()) {
		return header{}, false
	}
	flags := binary.BigEndian.Uint16(b[4:])
	if flags&^flagFin != 0 {
		return header{}, false
	}
	return header{
		fin: flags&flagFin != 0, stream: binary.BigEndian.Uint16(b[6:]),
		seq: binary.BigEndian.Uint64(b[8:]), sentNs: int64(binary.BigEndian.Uint64(b[16:])),
	}, true
}
