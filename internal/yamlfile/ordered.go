package yamlfile

// Ordered is a mapping in the order of the file.
type Ordered[T any] []Entry[T]

// Entry is one member of an [Ordered].
type Entry[T any] struct {
	Name  string
	Value T
}

// Get returns the member of that name.
func (o Ordered[T]) Get(name string) (T, bool) {
	for _, e := range o {
		if e.Name == name {
			return e.Value, true
		}
	}
	var zero T
	return zero, false
}

// Names are the members' names in order.
func (o Ordered[T]) Names() []string {
	out := make([]string, len(o))
	for i, e := range o {
		out[i] = e.Name
	}
	return out
}

// DecodeYAML implements [Decoder]. The place of a member is that of its key.
func (o *Ordered[T]) DecodeYAML(f *File, n Node, path string) error {
	members, err := f.Members(n, path)
	if err != nil {
		return err
	}
	*o = make(Ordered[T], len(members))
	for i, m := range members {
		e, at := &(*o)[i], Join(path, m.Key)
		e.Name = m.Key
		f.Mark(at, m.Place)
		if err := f.Decode(m.Value, &e.Value, at); err != nil {
			return err
		}
	}
	return nil
}
