package native

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
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
	KindResume  = 3 // replaces a connection of kind 1 that was cut; a [Resume] follows
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

// Resume follows the preamble of a connection that replaces one that was cut:
//
//	40                48                56                64                 96
//	+-----------------+-----------------+-----------------+------------------+
//	| attempt (8)     | received (8)    | cut (8)         | proof (32 bytes) |
//	+-----------------+-----------------+-----------------+------------------+
//
// The proof is HMAC-SHA256 (RFC 2104) of all bytes before it, with the resume key of the
// session, which no data connection carries.
type Resume struct {
	Attempt uint64 // higher than that of any earlier attempt for the same index
	ResumeState
}

// ResumeState is where an end goes on: the bytes that it has received on the connection and
// those that it replaces, and for how many ns it has known of the cut.
type ResumeState struct{ Received, CutNs int64 }

// Sizes of what follows the preamble, and of the answer: a [Status], and after an OK a
// [ResumeState].
const (
	ResumeSize       = 24 + sha256.Size
	ResumeAnswerSize = 17
)

// AppendResume writes the preamble and what follows it.
func (p Preamble) AppendResume(b []byte, r Resume, key Key) []byte {
	start := len(b)
	b = p.Append(b)
	b = binary.BigEndian.AppendUint64(b, r.Attempt)
	b = r.append(b)
	return append(b, proof(b[start:], key)...)
}

func (s ResumeState) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(s.Received))
	return binary.BigEndian.AppendUint64(b, uint64(s.CutNs))
}

// parseResumeState reads 16 bytes; false for what no end can have received.
func parseResumeState(b []byte) (s ResumeState, ok bool) {
	received, cut := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	return ResumeState{int64(received), int64(cut)}, received <= math.MaxInt64 && cut <= math.MaxInt64
}

func proof(b []byte, key Key) []byte {
	h := hmac.New(sha256.New, key[:])
	_, _ = h.Write(b) // never fails
	return h.Sum(nil)
}

// ParseResume reads the preamble, of [PreambleSize] bytes, with the [ResumeSize] bytes that
// follow it. It fails if they are not proven with the key.
func ParseResume(b []byte, key Key) (r Resume, ok bool) {
	if len(b) != PreambleSize+ResumeSize {
		return r, false
	}
	said, proven := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(proof(said, key), proven) {
		return r, false
	}
	r.Attempt = binary.BigEndian.Uint64(b[PreambleSize:])
	r.ResumeState, ok = parseResumeState(b[PreambleSize+8:])
	return r, ok
}

// AppendAnswer writes the answer to a [Resume] that is accepted.
func (s ResumeState) AppendAnswer(b []byte) []byte { return s.append(append(b, byte(StatusOK))) }

// ParseResumeAnswer reads the [ResumeAnswerSize] bytes of an answer that accepts.
func ParseResumeAnswer(b []byte) (s ResumeState, ok bool) {
	if len(b) != ResumeAnswerSize || Status(b[0]) != StatusOK {
		return s, false
	}
	return parseResumeState(b[1:])
}
