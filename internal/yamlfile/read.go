package yamlfile

import (
	"github.com/goccy/go-yaml/ast"

	"soku/internal/measure"
)

// Member is one "key: value" of a mapping.
type Member struct {
	Key   string
	Place Place // of the key
	Value Node
}

// Members are the pairs of a mapping in their order; path is what a message calls
// the mapping, empty for the document.
func (f *File) Members(n Node, path string) ([]Member, error) {
	if err := f.affordable(n); err != nil {
		return nil, err
	}
	pairs, ok := pairsOf(n.ast)
	if !ok {
		return nil, f.mismatch(n, path, expectedMapping)
	}
	var merged []Member
	out := make([]Member, 0, len(pairs))
	seen := map[string]bool{}
	for _, p := range pairs {
		if _, merge := p.Key.(*ast.MergeKeyNode); merge && f.format.Aliases {
			more, err := f.mergeMembers(f.node(p.Value, placeOf(p.Key)), path)
			if err != nil {
				return nil, err
			}
			merged = append(merged, more...)
			continue
		}
		key := f.node(p.Key, n.place)
		text, ok := key.Text()
		if !ok {
			return nil, f.mismatch(key, path, expectedKey)
		}
		if seen[text] {
			return nil, f.failAt(key.place, path, "yaml.duplicate_key", measure.Figures{"key": Shorten(text)})
		}
		seen[text] = true
		out = append(out, Member{text, key.place, f.node(p.Value, key.place)})
	}
	for _, m := range merged { // what is written here counts before what is merged
		if !seen[m.Key] {
			seen[m.Key] = true
			out = append(out, m)
		}
	}
	return out, nil
}

// mergeMembers are the members that a merge key takes from a mapping, or from each
// of a list of them, of which the first counts.
func (f *File) mergeMembers(n Node, path string) ([]Member, error) {
	sources := []Node{n}
	if n.IsList() {
		sources = f.elements(n)
	}
	var out []Member
	for _, s := range sources {
		more, err := f.Members(s, path)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func pairsOf(n ast.Node) (pairs []*ast.MappingValueNode, ok bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// Items are the elements of a list.
func (f *File) Items(n Node, path string) ([]Node, error) {
	if err := f.affordable(n); err != nil {
		return nil, err
	}
	if !n.IsList() {
		return nil, f.mismatch(n, path, expectedList)
	}
	return f.elements(n), nil
}

// ItemsOrOne are the elements of a list, or the value itself where it is none.
func (f *File) ItemsOrOne(n Node) []Node {
	if !n.IsList() {
		return []Node{n}
	}
	return f.elements(n)
}

func (f *File) elements(n Node) []Node {
	values := n.ast.(*ast.SequenceNode).Values
	out := make([]Node, len(values))
	for i, v := range values {
		out[i] = f.node(v, n.place)
	}
	return out
}

// Scalar gives the text of a single value to set, whose error it places.
func (f *File) Scalar(n Node, path string, set func(string) error) error {
	if err := f.affordable(n); err != nil {
		return err
	}
	text, ok := n.Text()
	if !ok {
		return f.mismatch(n, path, expectedScalar)
	}
	if err := set(text); err != nil {
		return f.Locate(n.place, path, err)
	}
	return nil
}

// affordable is an error where aliases stand for more values than a file can hold.
func (f *File) affordable(n Node) error {
	if f.nodes > maxNodes {
		return f.Fail(n.place, "yaml.too_many_values", measure.Figures{"most": maxNodes})
	}
	return nil
}

// UnknownKey is the error of a member that means nothing in its mapping. Its hint
// is the known key that was probably meant, if there is one, and all of them.
func (f *File) UnknownKey(m Member, path string, known []string) error {
	unknown := f.failAt(m.Place, path, "yaml.unknown_key", measure.Figures{"key": Shorten(m.Key), "known": known})
	if near := Nearest(m.Key, known); near != "" {
		return unknown.WithHintCode("yaml.did_you_mean", measure.Figures{"near": near, "known": known})
	}
	return unknown
}

// Join is the path of a member of the mapping at path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
