package ethr

import (
	"encoding/binary"
	"math/bits"
	"reflect"
)

// encode writes m as encoding/gob does: a description for each type, then the value.
func encode(b []byte, m Message) []byte {
	w := writer{m.Kind, schema(m.Synced || m.Kind >= SyncStart), m.members()}
	for i, t := range w.types {
		d := appendInt(nil, -int64(firstType+i))
		b = appendCounted(b, append(d, describe(t, firstType+i)...))
	}
	return appendCounted(b, w.value(appendInt(nil, typeMsg), w.types[0], ""))
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

// writer writes the value of a message of a kind.
type writer struct {
	kind    Kind
	types   []structure
	numbers members
}

// value writes the fields of a structure that are not zero, as gob does, and the
// structures that belong to the kind of the message. Each begins with the difference of its
// number from the one before; path is the prefix of the fields' names.
func (w *writer) value(b []byte, t structure, path string) []byte {
	before := -1
	for i, f := range t.fields {
		if content := w.field(f, path+f.name); content != nil {
			b = append(appendUint(b, uint64(i-before)), content...)
			before = i
		}
	}
	return append(b, 0)
}

func (w *writer) field(f field, path string) []byte {
	if f.id >= firstType {
		if k := kindOf(path); k != 0 && k != w.kind {
			return nil
		}
		return w.value(nil, w.types[f.id-firstType], path+".")
	}
	v := reflect.ValueOf(w.numbers[path]).Elem()
	switch {
	case v.IsZero():
		return nil
	case v.CanInt():
		return appendInt(nil, v.Int())
	case v.CanUint():
		return appendUint(nil, v.Uint())
	}
	return []byte{1} // true
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
