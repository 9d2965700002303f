package measure

import "bytes"

// cuts are members of a document to leave out: of each the members within it, or within each
// object of a list, or nil for the whole of it.
type cuts map[string]cuts

// cut appends a document with null for the members that are left out, so that the decoder
// need not read them; the text is not changed. What is left out is only known to have its
// brackets and quotes closed. A text that is no object is appended as it is, and a member whose
// key is written with escapes stays.
func (c cuts) cut(out, b []byte) []byte {
	before := len(out)
	out, end := c.object(out, b, space(b, 0))
	if end < 0 {
		return append(out[:before], b...)
	}
	return append(out, b[end:]...)
}

// object appends the object that begins at b[at] and returns where it ends, or -1 if there
// is none.
func (c cuts) object(out, b []byte, at int) ([]byte, int) {
	if at >= len(b) || b[at] != '{' {
		return out, -1
	}
	kept := at // what follows is not in out yet
	for at = space(b, at+1); ; at = space(b, at+1) {
		if at < len(b) && b[at] == '}' {
			return append(out, b[kept:at+1]...), at + 1
		}
		end := value(b, at)
		if end < 0 || b[at] != '"' {
			return out, -1
		}
		inner, found := c[string(b[at+1:end-1])]
		at = space(b, end)
		if at >= len(b) || b[at] != ':' {
			return out, -1
		}
		at = space(b, at+1)
		switch {
		case found && inner == nil:
			out = append(append(out, b[kept:at]...), "null"...)
			at = value(b, at)
			kept = at
		case found && at < len(b) && b[at] == '{':
			out = append(out, b[kept:at]...)
			out, at = inner.object(out, b, at)
			kept = at
		case found && at < len(b) && b[at] == '[':
			out = append(out, b[kept:at]...)
			out, at = inner.list(out, b, at)
			kept = at
		default:
			at = value(b, at)
		}
		if at < 0 {
			return out, -1
		}
		if at = space(b, at); at >= len(b) || b[at] != ',' && b[at] != '}' {
			return out, -1
		}
		if b[at] == '}' {
			at-- // the loop sees it next
		}
	}
}

// list appends the list that begins at b[at] and returns where it ends, or -1 if there is none.
func (c cuts) list(out, b []byte, at int) ([]byte, int) {
	kept := at // what follows is not in out yet
	for at = space(b, at+1); ; at = space(b, at+1) {
		switch {
		case at < len(b) && b[at] == ']':
			return append(out, b[kept:at+1]...), at + 1
		case at < len(b) && b[at] == '{':
			out = append(out, b[kept:at]...)
			out, at = c.object(out, b, at)
			kept = at
		default:
			at = value(b, at)
		}
		if at < 0 {
			return out, -1
		}
		if at = space(b, at); at >= len(b) || b[at] != ',' && b[at] != ']' {
			return out, -1
		}
		if b[at] == ']' {
			at-- // the loop sees it next
		}
	}
}

// space is the first place from at on that is no white space.
func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}

// value is the end of the value that begins at b[at], or -1 if there is none.
func value(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	switch b[at] {
	case '"':
		return text(b, at)
	case '{', '[':
		return brackets(b, at)
	}
	end := at
	for end < len(b) && b[end] != ',' && b[end] != '}' && b[end] != ']' && b[end] > ' ' {
		end++
	}
	if end == at {
		return -1
	}
	return end
}

// text is the end of a string.
func text(b []byte, at int) int {
	for from := at + 1; ; {
		i := bytes.IndexByte(b[from:], '"')
		if i < 0 {
			return -1
		}
		from += i + 1
		escapes := 0
		for b[from-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return from
		}
	}
}

// brackets is the end of an object or an array. Most of a large document are numbers between
// its brackets, which are passed without a look at each.
func brackets(b []byte, at int) int {
	depth := 0
	for ; at < len(b); at++ {
		if !structural[b[at]] {
			continue
		}
		switch b[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"':
			end := text(b, at)
			if end < 0 {
				return -1
			}
			at = end - 1
		}
	}
	return -1
}

// structural are the bytes at which brackets has something to do.
var structural = [256]bool{'{': true, '[': true, '}': true, ']': true, '"': true}
