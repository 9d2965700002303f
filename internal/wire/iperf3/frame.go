package iperf3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"soku/internal/measure"
)

// errFrame is in every failure of a message that is not as iperf3 sends it.
var errFrame = errors.New("not a message of iperf3")

// fail is what is wrong with a message of the other end.
func fail(code string, figures measure.Figures) error {
	return measure.Fail(measure.KindBroken, code, figures).WithCause(errFrame)
}

// WriteState sends one state.
func WriteState(w io.Writer, s State) error {
	_, err := w.Write([]byte{byte(s)})
	return err
}

// ReadState reads one state.
func ReadState(r io.Reader) (State, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return State(int8(b[0])), err
}

// WriteJSON sends text after its length.
func WriteJSON(w io.Writer, text []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// ReadJSON reads text after its length, 1 to most bytes. It allocates at most twice the
// bytes received.
func ReadJSON(r io.Reader, most int) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n == 0 || int64(n) > int64(most) {
		return nil, fail("iperf3.message.size", measure.Figures{"size_bytes": n, "most_bytes": most})
	}
	var b bytes.Buffer
	got, err := io.Copy(&b, io.LimitReader(r, int64(n)))
	if err == nil && got < int64(n) {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// WriteError sends the client an error: one of iperf3's numbers, and an errno or 0.
func WriteError(w io.Writer, code, errno int) error {
	b := []byte{serverError}
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	b = binary.BigEndian.AppendUint32(b, uint32(errno))
	_, err := w.Write(b)
	return err
}

const serverError = 0xfe // ServerError as a byte

// readError reads the numbers after ServerError; those that do not arrive are 0.
func readError(r io.Reader) (code, errno int) {
	var b [8]byte
	n, _ := io.ReadFull(r, b[:])
	if n >= 4 {
		code = int(int32(binary.BigEndian.Uint32(b[:])))
	}
	if n == 8 {
		errno = int(int32(binary.BigEndian.Uint32(b[4:])))
	}
	return code, errno
}
