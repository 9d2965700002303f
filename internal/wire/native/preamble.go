package native

import (
	"encoding/binary"
	"errors"
)

// PreambleSize is the size of the preamble from the client with which a TCP data
// connection begins. The server answers it with one status byte, and after an
// OK the connection is the engines' alone. All numbers are big-endian.
//
//	 0       4        5        6              8                  40
//	+--------+--------+--------+--------------+-------------------+
//	| "SOKU" | version| kind   | stream index | key (32 bytes)    |
//	+--------+--------+--------+--------------+-------------------+
const PreambleSize = 4 + 1 + 1 + 2 + KeySize

// Magic begins every TCP data connection.
const Magic = "SOKU"

// Kinds of data connections.
const (
	KindData    = 1 // carries measured bytes, after the server's answer
	KindConnect = 2 // is counted, answered if the test has a size, and closed by the server
)

// Preamble is the decoded form.
type Preamble struct {
	Version uint8
	Kind    uint8
	Index   uint16
	Key     Key
}

// Status is the server's answer to a preamble.
type Status byte

// Statuses.
const (
	StatusOK      Status = 0
	StatusRefused Status = 1 // unknown key, index out of range or taken, session at its end
	StatusVersion Status = 2 // the preamble's version is not spoken here
)

var errPreamble = errors.New("not a soku data connection")

// Append writes the preamble to b.
func (p Preamble) Append(b []byte) []byte {
	b = append(b, Magic...)
	b = append(b, p.Version, p.Kind)
	b = binary.BigEndian.AppendUint16(b, p.Index)
	return append(b, p.Key[:]...)
}

// ParsePreamble reads exactly [PreambleSize] bytes. The caller checks the version: bytes 4
// and up have this meaning in version 1 only.
func ParsePreamble(b []byte) (Preamble, error) {
	if len(b) != PreambleSize || string(b[:4]) != Magic {
		return Preamble{}, errPreamble
	}
	p := Preamble{Version: b[4], Kind: b[5], Index: binary.BigEndian.Uint16(b[6:8])}
	copy(p.Key[:], b[8:])
	return p, nil
}
