package text

import "reflect"

// Line is one line of a summary as data: what it is of, and its sentence. Label and Key
// are keys of the catalogue; an empty Label is a line that belongs to the one above it.
type Line struct {
	Label string
	Key   string
	Args  Args
}

// Equal reports whether both are the same sentence with the same figures.
func (l Line) Equal(o Line) bool { return reflect.DeepEqual(l, o) }

// Lines collect the lines of a summary.
type Lines []Line

// Row adds a line.
func (l *Lines) Row(label, key string, args Args) { l.add(label, key, args) }

func (l *Lines) add(label, key string, args Args) { *l = append(*l, Line{label, key, args}) }

// Under adds a line that belongs to the one above it.
func (l *Lines) Under(key string, args Args) { l.add("", key, args) }

// Rows adds a line that was made elsewhere, under a label.
func (l *Lines) Rows(label string, line Line) { l.add(label, line.Key, line.Args) }

// Words are the label and the sentence of a line, in the language of c.
func (c *Catalogue) Words(l Line) (label, sentence string) {
	if l.Label != "" {
		label = c.sentence(l.Label, nil)
	}
	return label, c.sentence(l.Key, l.Args)
}

// SentenceOf is the sentence of a line without its label.
func (c *Catalogue) SentenceOf(l Line) string { return c.sentence(l.Key, l.Args) }

// Heading is the heading of a column, by its key.
func (c *Catalogue) Heading(key string) string { return c.sentence(key, nil) }

// Headings are those of a table, by their keys.
func (c *Catalogue) Headings(keys ...string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = c.Heading(key)
	}
	return out
}
