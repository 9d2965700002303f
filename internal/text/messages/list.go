package messages

import "strings"

// List is names one after the other.
func (l *Language) List(names []string) string {
	return strings.Join(names, l.OrKey("list.separator", nil))
}

// phrases are parts one after the other that may have commas of their own.
func (l *Language) phrases(parts []string) string {
	return strings.Join(parts, l.OrKey("list.phrases", nil))
}

// between is a range of two texts, or one of them if they are equal.
func (l *Language) between(low, high string) string {
	if low == high {
		return low
	}
	return l.OrKey("cell.range", Args{"Low": low, "High": high})
}

// Enumerate is names as a sentence lists them: a, b and c.
func (l *Language) Enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return l.OrKey("list.last", Args{"First": l.List(names[:last]), "Last": names[last]})
}
