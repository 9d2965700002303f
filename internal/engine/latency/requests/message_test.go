package requests

import (
	"bytes"
	"testing"
)

func FuzzParseHeader(f *testing.F) {
	b := make([]byte, HeaderSize)
	Header{MagicReply, 1, 2, 3}.Put(b)
	f.Add(b)
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := ParseHeader(b)
		if !ok {
			return
		}
		again := append([]byte(nil), b...)
		h.Put(again)
		if !bytes.Equal(again, b) {
			t.Errorf("%x became %x", b, again)
		}
	})
}
