package sock

import (
	"bytes"
	"compress/flate"
	"testing"
)

func TestPayloadsDoNotCompressAndDiffer(t *testing.T) {
	one, other := make([]byte, 1<<20), make([]byte, 1<<20)
	Incompressible(one)
	Incompressible(other)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(one)
	_, _ = w.Write(other)
	_ = w.Close()
	if packed.Len() < 2<<20 {
		t.Errorf("2 MiB were packed into %d bytes", packed.Len())
	}
	if bytes.Equal(one[:64], other[:64]) {
		t.Error("two payloads are the same")
	}
}
