package ntttcp

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Word is what the ends exchange, one at a time.
type Word int32

// Words of a sender and of a receiver that are letters.
const (
	Query Word = 'X' // which state?
	Run   Word = 'R' // begin
	Last  Word = 'L' // begin, and with all who wait
	Wait  Word = 'W' // until the last has come
	Exit  Word = 'E' // of a sender: over before the time. Of a receiver: no
)

// States of a receiver.
const (
	NotStarted Word = 11
	Running    Word = 12
	Finished   Word = 13
)

// wordSize is the length of a word in bytes.
const wordSize = 4

// Append adds w as it is sent.
func (w Word) Append(b []byte) []byte { return binary.BigEndian.AppendUint32(b, uint32(w)) }

// ParseWord reads the first word of b; false where there is none.
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

// SecondsMost bounds the time that ends agree on here: a day.
const SecondsMost = 86400

// Letter reports whether a number of seconds would be taken for a letter by a
// receiver that does not go by the order, as ntttcp itself.
func Letter(seconds int) bool {
	switch Word(seconds) {
	case Query, Run, Last, Exit:
		return true
	}
	return false
}
