package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func TestBucketsAreThoseOfTheLibrary(t *testing.T) {
	h := hdr.New(HistogramMin, HistogramMax, HistogramDigits)
	if err := h.RecordValue(HistogramMax); err != nil {
		t.Fatal(err)
	}
	bars := h.Distribution() // up to that value
	if len(bars) < histogramBuckets-subBucketHalf || len(h.Export().Counts) != histogramBuckets {
		t.Fatalf("%d bars of %d counts, want %d", len(bars), len(h.Export().Counts), histogramBuckets)
	}
	for i, b := range bars {
		if from, width := bucketAt(i); from != b.From || from+width-1 != b.To {
			t.Fatalf("bucket %d is %d to %d, want %d to %d", i, from, from+width-1, b.From, b.To)
		}
	}
}

// withNumbers is a whole histogram, but for its numbers.
func withNumbers(t *testing.T, numbers []byte) string {
	t.Helper()
	whole, err := hdr.New(HistogramMin, HistogramMax, HistogramDigits).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := base64.StdEncoding.DecodeString(string(whole))
	z, err := zlib.NewReader(bytes.NewReader(all[8:]))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	plain = append(plain[:40], numbers...)
	binary.BigEndian.PutUint32(plain[4:], uint32(len(numbers)))
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(plain)
	_ = w.Close()
	all = append(all[:8], packed.Bytes()...)
	binary.BigEndian.PutUint32(all[4:], uint32(packed.Len()))
	return base64.StdEncoding.EncodeToString(all)
}

func TestNumbersOfAHistogramAreChecked(t *testing.T) {
	zigzagged := func(n int64) []byte {
		u := uint64(n<<1) ^ uint64(n>>63)
		var b []byte
		for len(b) < 8 && u >= 0x80 {
			b, u = append(b, byte(u)|0x80), u>>7
		}
		return append(b, byte(u))
	}
	join := func(numbers ...int64) (b []byte) {
		for _, n := range numbers {
			b = append(b, zigzagged(n)...)
		}
		return b
	}
	for name, c := range map[string]struct {
		numbers []byte
		code    string
	}{
		"none":              {nil, ""},
		"the last bucket":   {join(-(histogramBuckets - 1), 5), ""},
		"many in a bucket":  {join(-2000, 1<<62), ""},
		"only empty ones":   {join(-histogramBuckets), ""},
		"zeros":             {join(0, 0, 7), ""},
		"a bucket too many": {join(-histogramBuckets, 5), "document.histogram.damaged_by"},
		"too many empty":    {join(3, -histogramBuckets), "document.histogram.damaged_by"},
		"endless empty":     {join(math.MinInt64), "document.histogram.damaged_by"},
		"cut off":           {join(1 << 40)[:3], "document.histogram.damaged_by"},
		"too many values":   {join(1<<62, 1<<62), "document.histogram.too_many"},
	} {
		data := withNumbers(t, c.numbers)
		text, _ := json.Marshal(histogramJSON{Encoding: histogramEncoding, Data: data})
		var h Histogram
		err := h.UnmarshalJSON(text)
		if c.code == "" {
			dense, decoded := hdr.Decode([]byte(data))
			if err != nil || decoded != nil {
				t.Errorf("%s: %v, %v", name, err, decoded)
				continue
			}
			wantAlike(t, &h, &Histogram{dense: dense})
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func TestAHistogramThatDoesNotEndAsItSaysIsRefused(t *testing.T) {
	all, _ := base64.StdEncoding.DecodeString(withNumbers(t, []byte{2, 2}))
	wrongSum := bytes.Clone(all)
	wrongSum[len(wrongSum)-1] ^= 1
	otherCookie := bytes.Clone(all)
	otherCookie[3] ^= 1
	longer := bytes.Clone(all)
	binary.BigEndian.PutUint32(longer[4:], math.MaxUint32)
	for name, b := range map[string][]byte{"checksum": wrongSum, "cookie": otherCookie, "length": longer, "cut off": all[:len(all)-5], "header": all[:7]} {
		text, _ := json.Marshal(histogramJSON{Encoding: histogramEncoding, Data: base64.StdEncoding.EncodeToString(b)})
		if err := new(Histogram).UnmarshalJSON(text); KindOf(err) != KindFile {
			t.Errorf("another %s: %v", name, err)
		}
	}
}
