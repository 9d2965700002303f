package ethr

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"time"
)

// Limits of the types in a message; Ethr has 8 types of up to 9 fields.
const (
	maxTypes  = 32
	maxFields = 32
	maxName   = 64
	maxDepth  = 8
)

// Decode reads the contents of a frame. It decodes encoding/gob for messages of Ethr only:
// structures of numbers, whose fields are found by name. Its memory and time are limited
// by the length of b, at most a frame, whatever types b describes.
func Decode(b []byte) (Message, error) {
	if len(b) > maxMessage {
		return Message{}, errLength
	}
	d := decoder{in: reader{b: b}, types: map[int64]structure{}}
	d.numbers = d.m.members()
	for {
		m, done, err := d.section()
		if err != nil || done {
			return m, err
		}
	}
}

type decoder struct {
	in      reader
	types   map[int64]structure
	m       Message
	numbers members // of m
	seen    Kind    // of the structures of the value: which kind it belongs to
}

// section reads one part of the message: the description of a type, or the value.
func (d *decoder) section() (m Message, done bool, err error) {
	n, ok := d.in.uint()
	if !ok || n > uint64(len(d.in.b)) {
		return m, false, errGob
	}
	r := reader{b: d.in.b[:n]}
	d.in.b = d.in.b[n:]
	id, ok := r.int()
	switch {
	case !ok || id == 0 || id == math.MinInt64:
		return m, false, errGob
	case id < 0:
		t, ok := r.description(-id)
		if _, known := d.types[-id]; !ok || known || len(d.types) >= maxTypes || len(r.b) > 0 {
			return m, false, errGob
		}
		d.types[-id] = t
		return m, false, nil
	}
	t, known := d.types[id]
	if !known || t.name != typeName || !d.value(&r, t, "", 0) || len(r.b) > 0 || len(d.in.b) > 0 || d.seen == 0 || d.seen != d.m.Kind {
		return m, false, errGob
	}
	d.m.Synced = slices.ContainsFunc(t.fields, func(f field) bool { return f.name == SyncStart.String() })
	return d.m, true, nil
}

// description reads what describe writes, for the type of that number.
func (r *reader) description(id int64) (t structure, ok bool) {
	if !r.expect(3, 1, 1) {
		return t, false
	}
	if t.name, ok = r.string(); !ok || !r.expect(1) {
		return t, false
	}
	own, ok := r.int()
	if !ok || own != id || !r.expect(0) {
		return t, false
	}
	next, ok := r.uint()
	if !ok || next > 1 {
		return t, false
	}
	if next == 1 {
		n, ok := r.uint()
		if !ok || n > maxFields {
			return t, false
		}
		for range n {
			f, ok := r.field()
			if !ok {
				return t, false
			}
			t.fields = append(t.fields, f)
		}
		if !r.expect(0) {
			return t, false
		}
	}
	return t, r.expect(0)
}

// field reads name and type of a field. gob omits empty values; in a message of Ethr
// neither is empty.
func (r *reader) field() (f field, ok bool) {
	if !r.expect(1) {
		return f, false
	}
	if f.name, ok = r.string(); !ok || !r.expect(1) {
		return f, false
	}
	id, ok := r.int()
	f.id = int(id)
	return f, ok && id > 0 && id < math.MaxInt32 && r.expect(0)
}

// value reads a structure; path is the prefix of its fields' names.
func (d *decoder) value(r *reader, t structure, path string, depth int) bool {
	if depth > maxDepth {
		return false
	}
	for at := -1; ; {
		step, ok := r.uint()
		switch {
		case !ok || step > maxFields:
			return false
		case step == 0:
			return true
		}
		if at += int(step); at >= len(t.fields) {
			return false
		}
		if f := t.fields[at]; !d.field(r, f, path+f.name, depth) {
			return false
		}
	}
}

func (d *decoder) field(r *reader, f field, path string, depth int) bool {
	switch f.id {
	case gobBool, gobUint:
		v, ok := r.uint()
		return ok && d.numbers.setUint(path, v)
	case gobInt:
		v, ok := r.int()
		d.numbers.setInt(path, v)
		return ok
	case gobFloat:
		_, ok := r.uint()
		return ok
	case gobBytes, gobString:
		n, ok := r.uint()
		return ok && r.skip(n)
	}
	t, known := d.types[int64(f.id)]
	if !known {
		return false
	}
	if k := kindOf(path); k != 0 {
		if d.seen != 0 {
			return false // a message of two kinds
		}
		d.seen = k
	}
	return d.value(r, t, path+".", depth+1)
}

// kindOf is the kind of message that the structure at path belongs to, or 0.
func kindOf(path string) Kind {
	for k, name := range kindNames {
		if path == name {
			return k
		}
	}
	return 0
}

// setUint stores a number if the field is known, and refuses a number that does not fit
// into it.
func (m members) setUint(path string, n uint64) bool {
	p, known := m[path]
	if !known {
		return true
	}
	v := reflect.ValueOf(p).Elem()
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(n != 0)
		return n <= 1
	case v.CanUint():
		v.SetUint(n)
		return !v.OverflowUint(n)
	}
	return true
}

func (m members) setInt(path string, n int64) {
	if p, known := m[path].(*time.Duration); known {
		*p = time.Duration(n)
	}
}

// reader reads numbers from the front of b.
type reader struct{ b []byte }

func (r *reader) uint() (uint64, bool) {
	if len(r.b) == 0 {
		return 0, false
	}
	first := r.b[0]
	r.b = r.b[1:]
	if first < 128 {
		return uint64(first), true
	}
	n := int(-int8(first))
	if n > 8 || n > len(r.b) || n < 1 {
		return 0, false
	}
	var all [8]byte
	copy(all[8-n:], r.b[:n])
	r.b = r.b[n:]
	return binary.BigEndian.Uint64(all[:]), true
}

func (r *reader) int() (int64, bool) {
	v, ok := r.uint()
	if v&1 != 0 {
		return ^int64(v >> 1), ok
	}
	return int64(v >> 1), ok
}

func (r *reader) string() (string, bool) {
	n, ok := r.uint()
	if !ok || n > maxName || n > uint64(len(r.b)) {
		return "", false
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s, true
}

func (r *reader) skip(n uint64) bool {
	if n > uint64(len(r.b)) {
		return false
	}
	r.b = r.b[n:]
	return true
}

// expect reads these numbers, each a byte.
func (r *reader) expect(want ...byte) bool {
	for _, w := range want {
		if len(r.b) == 0 || r.b[0] != w {
			return false
		}
		r.b = r.b[1:]
	}
	return true
}
