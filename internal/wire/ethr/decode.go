package ethr

import (
	"bytes"
	"cmp"
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
	r := reader{b: d.in.take(d.in.uint())}
	id := r.int()
	switch {
	case id == 0 || id == math.MinInt64:
		return m, false, errGob
	case id < 0:
		t := r.description(-id)
		if _, known := d.types[-id]; known || len(d.types) >= maxTypes || r.bad || len(r.b) > 0 {
			return m, false, errGob
		}
		d.types[-id] = t
		return m, false, nil
	}
	t, known := d.types[id]
	r.check(known && t.name == typeName)
	d.value(&r, t, "", 0)
	if r.bad || len(r.b) > 0 || len(d.in.b) > 0 || d.seen == 0 || d.seen != d.m.Kind {
		return m, false, errGob
	}
	d.m.Synced = slices.ContainsFunc(t.fields, func(f field) bool { return f.name == SyncStart.String() })
	return d.m, true, nil
}

// description reads what describe writes, for the type of that number.
func (r *reader) description(id int64) (t structure) {
	r.expect(3, 1, 1)
	t.name = r.string()
	r.expect(1)
	r.check(r.int() == id)
	r.expect(0)
	next := r.uint()
	r.check(next <= 1)
	if next == 1 {
		n := r.uint()
		r.check(n <= maxFields)
		for i := uint64(0); i < n && !r.bad; i++ {
			t.fields = append(t.fields, r.field())
		}
		r.expect(0)
	}
	r.expect(0)
	return t
}

// field reads name and type of a field. gob omits empty values; in a message of Ethr
// neither is empty.
func (r *reader) field() field {
	r.expect(1)
	name := r.string()
	r.expect(1)
	id := r.int()
	r.check(id > 0 && id < math.MaxInt32)
	r.expect(0)
	return field{name, int(id)}
}

// value reads a structure; path is the prefix of its fields' names.
func (d *decoder) value(r *reader, t structure, path string, depth int) {
	r.check(depth <= maxDepth)
	for at := uint64(0); ; {
		step := r.uint()
		if step == 0 {
			return // the end, or a failure
		}
		r.check(step <= maxFields && at+step <= uint64(len(t.fields)))
		if r.bad {
			return
		}
		at += step
		f := t.fields[at-1]
		d.field(r, f, path+f.name, depth)
	}
}

func (d *decoder) field(r *reader, f field, path string, depth int) {
	switch f.id {
	case gobBool, gobUint:
		r.check(d.numbers.setUint(path, r.uint()))
	case gobInt:
		d.numbers.setInt(path, r.int())
	case gobFloat:
		r.uint()
	case gobBytes, gobString:
		r.take(r.uint())
	default:
		t, known := d.types[int64(f.id)]
		k := kindOf(path)
		r.check(known && (k == 0 || d.seen == 0)) // no message of two kinds
		d.seen = cmp.Or(k, d.seen)
		d.value(r, t, path+".", depth+1)
	}
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

// reader reads numbers from the front of b. After a failure b is empty and every number 0.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) check(ok bool) {
	if !ok {
		r.b, r.bad = nil, true
	}
}

func (r *reader) take(n uint64) []byte {
	r.check(n <= uint64(len(r.b)))
	if r.bad {
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) uint() uint64 {
	b := r.take(1)
	if r.bad || b[0] < 128 {
		return wide(b)
	}
	n := -int8(b[0])
	r.check(n >= 1 && n <= 8)
	return wide(r.take(uint64(n)))
}

// wide is the number whose bytes b are.
func wide(b []byte) (v uint64) {
	for _, digit := range b {
		v = v<<8 | uint64(digit)
	}
	return v
}

func (r *reader) int() int64 {
	v := r.uint()
	if v&1 != 0 {
		return ^int64(v >> 1)
	}
	return int64(v >> 1)
}

func (r *reader) string() string {
	n := r.uint()
	r.check(n <= maxName)
	return string(r.take(n))
}

// expect reads these numbers, each a byte.
func (r *reader) expect(want ...byte) { r.check(bytes.Equal(r.take(uint64(len(want))), want)) }
