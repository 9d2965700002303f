package ethr

import (
	"encoding/binary"
	"math/bits"
)

// encode writes m as encoding/gob does: a description for each type, then the value.
func encode(b []byte, m Message) []byte {
	for i, t := range schema(m.Synced || m.Kind >= SyncStart) {
		d := appendInt(nil, -int64(firstType+i))
		b = appendCounted(b, append(d, describe(t, firstType+i)...))
	}
	return appendCounted(b, m.value(appendInt(nil, typeMsg)))
}

func appendCounted(b, content []byte) []byte {
	return append(appendUint(b, uint64(len(content))), content...)
}

// describe is gob's description of a structure: the third of seven kinds of types
// has its name, its number, and name and number of each field.
func describe(t structure, id int) []byte {
	b := []byte{3, 1}
	b = appendString(append(b, 1), t.name)
	b = append(appendInt(append(b, 1), int64(id)), 0)
	if len(t.fields) > 0 {
		b = appendUint(append(b, 1), uint64(len(t.fields)))
		for _, f := range t.fields {
			b = appendString(append(b, 1), f.name)
			b = append(appendInt(append(b, 1), int64(f.id)), 0)
		}
	}
	return append(b, 0, 0)
}

// value writes the fields of m that are not zero, as gob does, and the structure
// that belongs to its kind.
func (m Message) value(b []byte) []byte {
	w := writer{b: b}
	w.uint(0, uint64(m.Version))
	w.uint(1, uint64(m.Kind))
	switch m.Kind {
	case Syn:
		w.inner(2, func(w *writer) {
			w.inner(0, func(w *writer) {
				w.uint(0, uint64(m.Transport))
				w.uint(1, uint64(m.Test))
			})
			w.inner(1, m.Params.write)
		})
	case Ack:
		w.inner(3, func(*writer) {})
	case SyncStart:
		w.inner(4, func(*writer) {})
	case SyncReady:
		w.inner(5, func(w *writer) { w.int(0, int64(m.Delay)) })
	case SyncGo:
		w.inner(6, func(w *writer) { w.int(0, int64(m.RTT)) })
	}
	return append(w.b, 0)
}

func (p Params) write(w *writer) {
	reverse := uint64(0)
	if p.Reverse {
		reverse = 1
	}
	w.uint(0, uint64(p.Threads))
	w.uint(1, uint64(p.Buffer))
	w.uint(2, uint64(p.Rounds))
	w.uint(3, reverse)
	w.int(4, int64(p.Duration))
	w.int(5, int64(p.Gap))
	w.uint(6, uint64(p.Warmup))
	w.uint(7, p.Rate)
	w.uint(8, uint64(p.ToS))
}

// writer writes the fields of one structure in order: each begins with the difference of
// its number from the previous one.
type writer struct {
	b    []byte
	next int // 1 + number of fields written or omitted
}

func (w *writer) begin(number int) {
	w.b = appendUint(w.b, uint64(number+1-w.next))
	w.next = number + 1
}

func (w *writer) uint(number int, v uint64) {
	if v != 0 {
		w.begin(number)
		w.b = appendUint(w.b, v)
	}
}

func (w *writer) int(number int, v int64) {
	if v != 0 {
		w.begin(number)
		w.b = appendInt(w.b, v)
	}
}

// inner writes a structure, even if every field is zero.
func (w *writer) inner(number int, fields func(*writer)) {
	w.begin(number)
	in := writer{b: w.b}
	fields(&in)
	w.b = append(in.b, 0)
}

// appendUint writes a small number as a byte, a larger one as its bytes after their
// negated count.
func appendUint(b []byte, v uint64) []byte {
	if v < 128 {
		return append(b, byte(v))
	}
	var all [8]byte
	binary.BigEndian.PutUint64(all[:], v)
	n := (bits.Len64(v) + 7) / 8
	return append(append(b, byte(-n)), all[8-n:]...)
}

// appendInt writes the sign in the lowest bit.
func appendInt(b []byte, v int64) []byte {
	if v < 0 {
		return appendUint(b, uint64(^v)<<1|1)
	}
	return appendUint(b, uint64(v)<<1)
}

func appendString(b []byte, s string) []byte { return append(appendUint(b, uint64(len(s))), s...) }
