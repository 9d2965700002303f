package ntttcp

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Word is one message of the sync connection.
type Word int32

// Words that are letters.
const (
	Query Word = 'X' // request for the state
	Run   Word = 'R' // start
	Last  Word = 'L' // start, with all waiting senders
	Wait  Word = 'W' // wait for the last sender
	Exit  Word = 'E' // from a sender: ended early; from a receiver: refused
)

// States of a receiver.
const (
	NotStarted Word = 11
	Running    Word = 12
	Finished   Word = 13
)

// wordSize is the length of a word in bytes.
const wordSize = 4

// Append appends the encoding of w.
func (w Word) Append(b []byte) []byte { return binary.BigEndian.AppendUint32(b, uint32(w)) }

// ParseWord reads the first word of b, and returns false if b is too short.
func ParseWord(b []byte) (Word, bool) {
	if len(b) < wordSize {
		return 0, false
	}
	return Word(int32(binary.BigEndian.Uint32(b))), true
}

// ReadWord reads one word. The error is that of r, io.EOF only before the first byte.
func ReadWord(r io.Reader) (Word, error) {
	var b [wordSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	w, _ := ParseWord(b[:])
	return w, nil
}

// WriteWord writes one word with one call.
func WriteWord(w io.Writer, word Word) error {
	_, err := w.Write(word.Append(nil))
	return err
}

// String names a letter, or gives the number.
func (w Word) String() string {
	switch w {
	case Query, Run, Last, Wait, Exit:
		return fmt.Sprintf("%q", rune(w))
	}
	return fmt.Sprint(int32(w))
}

// SecondsMost is the maximum duration that soku negotiates: a day.
const SecondsMost = 86400

// Letter reports whether a receiver that does not go by the order of words, such as
// ntttcp, takes a number of seconds for a letter.
func Letter(seconds int) bool {
	switch Word(seconds) {
	case Query, Run, Last, Exit:
		return true
	}
	return false
}
