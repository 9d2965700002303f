package native

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
)

// PreambleSize is the length of the preamble, bytes. A client begins each TCP data connection with
// it. Numbers are big-endian:
//
//	 0        4         5         6        8                    40
//	+--------+---------+---------+--------+--------------------+
//	| "SOKU" | version | kind    | index  | key                |  client
//	+--------+---------+---------+--------+--------------------+
//
//	 0        1
//	+--------+
//	| status |  server; none to kind 2
//	+--------+
//
// After the status OK only the engines use the connection. A [Resume] follows the preamble of
// kind 3.
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
//	 40        48       52      56        64                   96
//	+---------+--------+-------+---------+--------------------+
//	| attempt | stages | items | cut, ns | proof              |  client
//	+---------+--------+-------+---------+--------------------+
//
//	 0        1        5       9         17
//	+--------+--------+-------+---------+
//	| status | stages | items | cut, ns |  server; the status alone if it refuses
//	+--------+--------+-------+---------+
//
// The proof is HMAC-SHA256 (RFC 2104) of all bytes before it, with the resume key of the
// session, which no data connection carries.
type Resume struct {
	Attempt uint64 // higher than that of any earlier attempt for the same index
	ResumeState
}

// ResumeState is what the sink of a copy has received when a connection is replaced. Of the
// source only CutNs counts.
type ResumeState struct {
	Stages uint32 // complete ones: everything is written and flushed
	Items  uint32 // of the next stage on this index: whole files, and the end of the stage as one more
	CutNs  int64  // since when this end has known of the cut
}

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
	b = binary.BigEndian.AppendUint32(b, s.Stages)
	b = binary.BigEndian.AppendUint32(b, s.Items)
	return binary.BigEndian.AppendUint64(b, uint64(s.CutNs))
}

// parseResumeState reads 16 bytes; false for a time that is too long.
func parseResumeState(b []byte) (s ResumeState, ok bool) {
	cut := binary.BigEndian.Uint64(b[8:])
	return ResumeState{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), int64(cut)}, cut <= math.MaxInt64
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
