package iperf3

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"soku/internal/printable"
)

// object is a JSON object whose members keep their order, as in iperf3's documents; a Go
// map has no order.
type object []member

type member struct {
	key   string
	value any // object, []any, string, bool, int, int64, float64 or json.RawMessage
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// pretty writes v as iperf3 does: a tab for each depth, and before a value.
func pretty(v any) string {
	var b strings.Builder
	write(&b, v, 0, true)
	return b.String()
}

// compact writes v on one line.
func compact(v any) string {
	var b strings.Builder
	write(&b, v, 0, false)
	return b.String()
}

func write(b *strings.Builder, v any, depth int, spaced bool) {
	switch v := v.(type) {
	case object:
		writeObject(b, v, depth, spaced)
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
				if spaced {
					b.WriteByte(' ')
				}
			}
			write(b, item, depth+1, spaced)
		}
		b.WriteByte(']')
	case float64:
		b.WriteString(decimal(v))
	case json.RawMessage:
		b.Write(raw(v))
	default:
		b.Write(encoded(v))
	}
}

func writeObject(b *strings.Builder, o object, depth int, spaced bool) {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		newline(b, depth+1, spaced)
		b.Write(encoded(m.key))
		b.WriteByte(':')
		if spaced {
			b.WriteByte('\t')
		}
		write(b, m.value, depth+1, spaced)
	}
	newline(b, depth, spaced)
	b.WriteByte('}')
}

func newline(b *strings.Builder, depth int, spaced bool) {
	if spaced {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("\t", depth))
	}
}

// encoded is a string, a truth value or a whole number as JSON.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return printable.JSON(bytes.TrimRight(b.Bytes(), "\n"))
}

// raw is a document of the other end on one line, or null if it is invalid.
func raw(v []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, v); err != nil {
		return []byte("null")
	}
	return b.Bytes()
}

// decimal is f in the format of iperf3's documents: whole numbers without a point, and
// null for NaN and infinity.
func decimal(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e17) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
