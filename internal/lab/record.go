package lab

import (
	"encoding/binary"
	"math/bits"

	"soku/internal/measure"
)

// The delay line's record is a file in memory (memfd_create(2)) that the line
// has mapped and "lab status" reads through /proc, so counting costs no system
// call. It is on no disk: a page of a file on disk that is being written back
// stops who wants to change it, for half a second on a busy machine. Native
// byte order; every member is 8 bytes:
//
//	magic, number of directions
//	for each direction: the counters of [recordCounter], then the histogram
const recordMagic = 0x32796c64756b6f73 // "sokudly2" in little endian

// recordCounter is the place of a counter within a direction.
type recordCounter int

const (
	countPackets  recordCounter = iota // handed over
	countBytes                         // of Ethernet frames, those of segmented packets counted once
	countLost                          // dropped by chance, as the topology says
	countOverflow                      // dropped because the line's memory was full
	countPoliced                       // dropped because they exceeded the policer of bytes
	countFailed                        // refused by the kernel when handed over
	countMax                           // longest actual delay, ns
	countCounters                      // how many there are
)

// The histogram has 1024 buckets for each power of two, so a bucket is at most
// 0.1 % of its value wide, up to 2^34 ns (17 s).
const (
	bucketBits  = 10
	bucketLimit = 34
	bucketCount = (bucketLimit-bucketBits-1)*(1<<bucketBits) + 2<<bucketBits
)

const (
	recordHeader    = 2 * 8
	recordDirection = (int(countCounters) + bucketCount) * 8
)

// recordFD is the number of the record in the helper, the first file a child
// inherits besides its standard streams (os/exec.Cmd.ExtraFiles). The TAP
// devices follow it.
const recordFD = 3

func recordBytes(directions int) int { return recordHeader + directions*recordDirection }

// bucketOf is the bucket of a delay in ns.
func bucketOf(ns int64) int {
	v := uint64(min(max(ns, 0), 1<<bucketLimit-1))
	e := max(bits.Len64(v)-bucketBits-1, 0)
	return e<<bucketBits + int(v>>e)
}

// bucketValue is the longest delay of a bucket in ns.
func bucketValue(b int) int64 {
	e := max(b>>bucketBits-1, 0)
	return int64(b-e<<bucketBits+1)<<e - 1
}

// emptyRecord is the beginning of a record in which nothing was counted.
func emptyRecord(directions int) []byte {
	head := binary.NativeEndian.AppendUint64(nil, recordMagic)
	return binary.NativeEndian.AppendUint64(head, uint64(directions))
}

// recorder counts for one direction into its part of the file.
type recorder []byte

func (r recorder) add(c recordCounter, n uint64) {
	p := r[int(c)*8:]
	binary.NativeEndian.PutUint64(p, binary.NativeEndian.Uint64(p)+n)
}

func (r recorder) delay(ns int64) {
	p := r[(int(countCounters)+bucketOf(ns))*8:]
	binary.NativeEndian.PutUint64(p, binary.NativeEndian.Uint64(p)+1)
	if m := r[int(countMax)*8:]; uint64(ns) > binary.NativeEndian.Uint64(m) && ns > 0 {
		binary.NativeEndian.PutUint64(m, uint64(ns))
	}
}

// GivenDelay is what the delay line did to one direction of a link.
type GivenDelay struct {
	Packets  uint64 `json:"packets"`  // handed over; a segmented packet counts once
	Bytes    uint64 `json:"bytes"`    // of their Ethernet frames
	Lost     uint64 `json:"lost"`     // dropped by chance, as the topology says
	Overflow uint64 `json:"overflow"` // dropped because the line's memory was full: the emulation was not true
	Policed  uint64 `json:"policed"`  // dropped by a policer of bytes
	Failed   uint64 `json:"failed"`   // the receiving end did not take them
	P50Ns    int64  `json:"p50_ns"`   // actual delays, from reading a packet to writing it; up to 0.1 % too high
	P99Ns    int64  `json:"p99_ns"`
	MaxNs    int64  `json:"max_ns"`
}

// decodeRecord reads a record; one element a direction.
func decodeRecord(data []byte) ([]GivenDelay, error) {
	if len(data) < recordHeader || binary.NativeEndian.Uint64(data) != recordMagic {
		return nil, measure.Fail(measure.KindInternal, "lab.given.damaged", nil)
	}
	n := binary.NativeEndian.Uint64(data[8:])
	if n > 2*maxLinks || len(data) < recordBytes(int(n)) {
		return nil, measure.Fail(measure.KindInternal, "lab.given.cut_short", nil)
	}
	out := make([]GivenDelay, n)
	for i := range out {
		part := recorder(data[recordHeader+i*recordDirection:][:recordDirection])
		get := func(c int) uint64 { return binary.NativeEndian.Uint64(part[c*8:]) }
		out[i] = GivenDelay{
			Packets: get(int(countPackets)), Bytes: get(int(countBytes)), Lost: get(int(countLost)),
			Overflow: get(int(countOverflow)), Policed: get(int(countPoliced)), Failed: get(int(countFailed)), MaxNs: int64(get(int(countMax))),
		}
		out[i].MaxNs = max(out[i].MaxNs, 0)
		out[i].P50Ns = min(percentile(get, 0.50), out[i].MaxNs) // a bucket's end may lie beyond the maximum
		out[i].P99Ns = min(percentile(get, 0.99), out[i].MaxNs)
	}
	return out, nil
}

func percentile(get func(int) uint64, share float64) int64 {
	var total, sum uint64
	for b := range bucketCount {
		total += get(int(countCounters) + b)
	}
	if total == 0 {
		return 0
	}
	for b := range bucketCount {
		if sum += get(int(countCounters) + b); float64(sum) >= share*float64(total) {
			return bucketValue(b)
		}
	}
	return 0
}
