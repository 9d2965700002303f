package tcp

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/loopback"
)

func TestEveryByteIsCheckedWhenAsked(t *testing.T) {
	a, b := loopback.TCP(t, 2)
	o := options(200*time.Millisecond, 2)
	o.Own = Options{Verify: true}
	s, r := both(t.Context(), a, b, o, measure.Forward, nil, nil)
	lossless(t, s, r)
	if s.end.Path != "write" || r.end.Path != "read" {
		t.Errorf("checked bytes took %s and %s", s.end.Path, r.end.Path)
	}
}

func TestTheKnownBytesAreTheSpecifiedOnes(t *testing.T) {
	want := sha256.Sum256([]byte{7: 3})
	if got := knownPayload().at(5*blockSize+3*32, 32); !bytes.Equal(got, want[:]) {
		t.Errorf("the fourth digest of a block is %x, want %x", got, want)
	}
}

func TestAChangedByteIsFound(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(10*time.Second, 1)
	o.Own = Options{Verify: true}
	go func() {
		whole := append([]byte(nil), knownPayload().at(0, blockSize)...)
		whole[70_000] ^= 0x10
		_ = a[0].SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = a[0].Write(whole)
	}()
	end, err := Receive(t.Context(), b, o, forward)
	if measure.KindOf(err) != measure.KindBroken || !strings.Contains(err.Error(), "byte 70000 is") {
		t.Errorf("error %v, want one that names byte 70000", err)
	}
	if n := receivedBytes(end); n > 70_000 {
		t.Errorf("%d bytes are counted as good", n)
	}
}

func TestAnUnsupportedPathIsAnError(t *testing.T) {
	a, b := loopback.TCP(t, 1)
	o := options(time.Second, 1)
	o.TX, o.RX = "gso", "gro"
	if _, err := Send(t.Context(), a, o, forward); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("sender: %v", err)
	}
	if _, err := Receive(t.Context(), b, o, forward); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("receiver: %v", err)
	}
}
