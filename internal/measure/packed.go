package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// packed are the counts of a histogram as its encoding has them (HdrHistogram, V2 encoding): of
// each bucket in rising order the count, or minus how many empty buckets follow, as zigzag
// LEB128 of at most 9 bytes. They save memory: a report holds the histograms of thousands of
// trials, and one has a few kB so, where a number for each bucket takes 220 kB.
type packed struct {
	numbers []byte // known to be whole, within the buckets and without a negative count
	total   int64
}

// The buckets of a range of 1 ns to 60 s with three digits: the first 2048 are 1 ns wide,
// each 1024 that follow twice as wide as those before.
const (
	subBucketHalfBits = 10
	subBucketHalf     = 1 << subBucketHalfBits
	histogramBuckets  = 27 * subBucketHalf
)

// bucketAt is the bucket with an index: its smallest value and its width in ns.
func bucketAt(index int) (from, width int64) {
	if index < subBucketHalf {
		return int64(index), 1
	}
	doubled := index>>subBucketHalfBits - 1
	return int64(index&(subBucketHalf-1)+subBucketHalf) << doubled, 1 << doubled
}

// each calls f with the occupied buckets in rising order, until it returns false.
func (p *packed) each(f func(Bucket) bool) {
	index := 0
	for rest := p.numbers; len(rest) > 0; {
		n, size := zigzag(rest)
		rest = rest[size:]
		if n < 0 {
			index -= int(n)
			continue
		}
		if n > 0 {
			from, width := bucketAt(index)
			if !f(Bucket{from, from + width - 1, n}) {
				return
			}
		}
		index++
	}
}

// TotalCount is how many values there are.
func (p *packed) TotalCount() int64 { return p.total }

// Min is the smallest value of the first occupied bucket, 0 without one.
func (p *packed) Min() (least int64) {
	p.each(func(b Bucket) bool { least = b.From; return false })
	return least
}

// Max is the largest value of the last occupied bucket, 0 without one.
func (p *packed) Max() (most int64) {
	p.each(func(b Bucket) bool { most = b.To; return true })
	return most
}

// ValueAtPercentile is the largest value of the bucket in which a percentile is, or the smallest
// one for 0, by the rule of package hdr: the value at the rounded rank, the first one at least.
func (p *packed) ValueAtPercentile(percentile float64) (value int64) {
	target := int64(1)
	if rank := min(percentile, 100)/100*float64(p.total) + 0.5; rank >= float64(p.total) {
		target = p.total
	} else if rank >= 1 {
		target = int64(rank)
	}
	var seen int64
	p.each(func(b Bucket) bool {
		seen += b.Count
		value = b.To
		if percentile <= 0 {
			value = b.From
		}
		return seen < target
	})
	return value
}

// addTo adds all values to a histogram of the same range.
func (p *packed) addTo(h *hdr.Histogram) {
	p.each(func(b Bucket) bool { return h.RecordValues(b.From, b.Count) == nil })
}

// zigzag is the number at the begin of b and how many bytes it has; 0 bytes for none. The
// ninth byte has eight bits of the number, which sets it apart from [binary.Varint].
func zigzag(b []byte) (n int64, size int) {
	var u uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			u |= uint64(b[i]) << 56
		} else {
			u |= uint64(b[i]&0x7f) << (7 * i)
		}
		if i == 8 || b[i] < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	return 0, 0
}

// errPacked is why the numbers of a histogram are refused.
var errPacked = errors.New("its numbers do not fit its buckets")

// check counts the values and tells numbers that are cut off or beyond the buckets. The total
// is at most [math.MaxInt64], also where there are more.
func (p *packed) check() error {
	index := int64(0)
	for rest := p.numbers; len(rest) > 0; {
		n, size := zigzag(rest)
		if size == 0 || n == math.MinInt64 || n < 0 && -n > histogramBuckets-index || n >= 0 && index >= histogramBuckets {
			return errPacked
		}
		rest = rest[size:]
		if n < 0 {
			index -= n
			continue
		}
		index++
		p.total += min(n, math.MaxInt64-p.total)
	}
	return nil
}

// readPacked reads the interchange form. Layout (big endian, base64): cookie 4, length 4, zlib
// of: cookie 4, length of the numbers 4, normalizing offset 4, digits 4, lowest 8, highest 8, ratio 8,
// numbers. It refuses another range, whose buckets would not merge, before it reads the numbers.
func readPacked(data string) (*packed, error) {
	const outer, inner, cookie, cookieInside = 8, 40, 0x1c849304, 0x1c849303
	all, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(all) < outer || plainCookie(all) != cookie || binary.BigEndian.Uint32(all[4:]) > uint32(len(all)-outer) {
		return nil, Fail(KindFile, "document.histogram.damaged", nil)
	}
	damaged := func(err error) error { return Fail(KindFile, "document.histogram.damaged_by", Figures{"cause": err}) }
	z, err := inflater(all[outer : outer+binary.BigEndian.Uint32(all[4:])])
	if err != nil {
		return nil, damaged(err)
	}
	defer inflaters.Put(z)
	var header [inner]byte
	if _, err := io.ReadFull(z, header[:]); err != nil {
		return nil, damaged(err)
	}
	size := binary.BigEndian.Uint32(header[4:])
	if plainCookie(header[:]) != cookieInside || size > 9*histogramBuckets {
		return nil, Fail(KindFile, "document.histogram.damaged", nil)
	}
	if binary.BigEndian.Uint32(header[12:]) != HistogramDigits ||
		binary.BigEndian.Uint64(header[16:]) != HistogramMin || binary.BigEndian.Uint64(header[24:]) != HistogramMax {
		return nil, Fail(KindFile, "document.histogram.range", Figures{
			"least_ns": HistogramMin, "most_ns": HistogramMax, "digits": HistogramDigits,
		})
	}
	p := &packed{numbers: make([]byte, size)}
	if _, err := io.ReadFull(z, p.numbers); err != nil {
		return nil, damaged(err)
	}
	if n, err := z.Read(header[:]); n != 0 || err == nil {
		return nil, damaged(errPacked)
	} else if err != io.EOF { // such as a wrong checksum
		return nil, damaged(err)
	}
	if err := p.check(); err != nil {
		return nil, damaged(err)
	}
	if p.total == math.MaxInt64 {
		return nil, Fail(KindFile, "document.histogram.too_many", nil)
	}
	return p, nil
}

// plainCookie is the cookie that b begins with, without the bits for the width of a word,
// which have no meaning in this version.
func plainCookie(b []byte) uint32 { return binary.BigEndian.Uint32(b) &^ 0xf0 }

// inflaters are readers of zlib, of which each has a window of 32 KiB.
var inflaters sync.Pool

// inflater is one that reads b. The caller puts it back.
func inflater(b []byte) (z io.ReadCloser, err error) {
	z, _ = inflaters.Get().(io.ReadCloser)
	if z == nil {
		return zlib.NewReader(bytes.NewReader(b))
	}
	return z, z.(zlib.Resetter).Reset(bytes.NewReader(b), nil)
}
