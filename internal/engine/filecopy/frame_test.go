package filecopy

import (
	"bytes"
	"testing"
)

func TestFramesAreReadAsTheyWereWritten(t *testing.T) {
	for _, f := range []frame{
		{frameStage, 1, entry{1, 1, 0}}, {frameStage, 3, entry{7, 9, bytesMost}}, {frameFile, 3, entry{0, 0, 0}},
		{frameFile, 2, entry{6, 8, 1 << 40}}, {kind: frameEnd}, {kind: frameOver},
	} {
		if got, ok := parseFrame(f.append(nil)); !ok || got != f {
			t.Errorf("%+v: %+v, %v", f, got, ok)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(frame{frameStage, 3, entry{7, 9, 1 << 30}}.append(nil))
	f.Add(make([]byte, frameSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frameSize {
			return
		}
		x, ok := parseFrame(b[:frameSize])
		if ok && !bytes.Equal(x.append(nil), b[:frameSize]) {
			t.Errorf("%x was read as %+v", b[:frameSize], x)
		}
	})
}
