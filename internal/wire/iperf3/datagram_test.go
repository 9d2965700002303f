package iperf3

import (
	"bytes"
	"testing"
	"time"
)

func TestDatagramNumbersStartAtOneAndReadBack(t *testing.T) {
	at := time.Unix(1_700_000_000, 123_456_000)
	for name, c := range map[string]struct {
		wide bool
		want []byte
	}{
		"32 bits": {false, []byte{0x65, 0x53, 0xf1, 0x00, 0x00, 0x01, 0xe2, 0x40, 0, 0, 0, 6}},
		"64 bits": {true, []byte{0x65, 0x53, 0xf1, 0x00, 0x00, 0x01, 0xe2, 0x40, 0, 0, 0, 0, 0, 0, 0, 6}},
	} {
		f := Datagrams(c.wide)
		b := make([]byte, 3*20)
		f.PutAll(b, 20, 0, 5, at)
		if !bytes.Equal(b[:f.Size()], c.want) {
			t.Errorf("%s: % x", name, b[:f.Size()])
		}
		for i := range 3 {
			number, sent, fin, ok := f.Parse(b[20*i : 20*i+20])
			if !ok || fin || number != uint64(5+i) || sent != at.UnixNano() {
				t.Errorf("%s: number %d sent at %d, %t", name, number, sent, ok)
			}
		}
		if f.Fin(b, 0, 5, at) != 0 {
			t.Errorf("%s: there is a last word", name)
		}
	}
}

func TestTheOpeningDatagramIsNotCounted(t *testing.T) {
	for _, connect := range []string{UDPConnect, UDPConnectLegacy, UDPReply} {
		if _, _, _, ok := Datagrams(false).Parse([]byte(connect)); ok {
			t.Errorf("%q is taken for a datagram of the test", connect)
		}
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), true)
	f.Fuzz(func(t *testing.T, b []byte, wide bool) {
		d := Datagrams(wide)
		if number, _, fin, ok := d.Parse(b); ok && (fin || len(b) < d.Size() || number == 1<<64-1) {
			t.Errorf("% x reads as %d", b, number)
		}
	})
}
