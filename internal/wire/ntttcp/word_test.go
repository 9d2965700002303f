package ntttcp

import (
	"bytes"
	"testing"
)

func TestAMessageIsFourBytesBigEndian(t *testing.T) {
	for _, c := range []struct {
		word  Word
		bytes string
	}{{Query, "\x00\x00\x00X"}, {Run, "\x00\x00\x00R"}, {Running, "\x00\x00\x00\x0c"}, {60, "\x00\x00\x00\x3c"}, {-1, "\xff\xff\xff\xff"}} {
		if got := c.word.Append(nil); string(got) != c.bytes {
			t.Errorf("%v is sent as % x, want % x", c.word, got, c.bytes)
		}
		if got, ok := ParseWord([]byte(c.bytes)); !ok || got != c.word {
			t.Errorf("% x is read as %v (%v), want %v", c.bytes, got, ok, c.word)
		}
	}
}

func TestSecondsThatEqualCommandsAreRecognised(t *testing.T) {
	for seconds := range 200 {
		if want := bytes.IndexByte([]byte("XRLE"), byte(seconds)) >= 0; Letter(seconds) != want {
			t.Errorf("Letter(%d) is %v", seconds, !want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00X\x00\x00\x00\x3c"))
	f.Add([]byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, ok := ParseWord(b)
		if ok != (len(b) >= wordSize) {
			t.Fatalf("% x: %v", b, ok)
		}
		read, err := ReadWord(bytes.NewReader(b))
		if ok != (err == nil) || read != w {
			t.Fatalf("% x: %v and %v, %v", b, w, read, err)
		}
		if ok && !bytes.Equal(w.Append(nil), b[:wordSize]) {
			t.Fatalf("% x is written as % x", b, w.Append(nil))
		}
	})
}
