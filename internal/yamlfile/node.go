package yamlfile

import "github.com/goccy/go-yaml/ast"

// Node is a value in a file. The zero Node is one that is not there.
type Node struct {
	ast   ast.Node
	place Place
}

// node is n as a Node; otherwise is its place where it has none of its own, such
// as a value that is left out. Where the format has aliases, they are followed.
func (f *File) node(n ast.Node, otherwise Place) Node {
	f.nodes++
	place := otherwise
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		place = placeOf(n)
	}
	for f.format.Aliases {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.MappingKeyNode:
			n = v.Value
		case *ast.AliasNode:
			if f.targets[v] == nil {
				return Node{n, place}
			}
			n = f.targets[v] // ends: an anchor holds no alias of itself
		default:
			return Node{n, place}
		}
	}
	return Node{n, place}
}

func placeOf(n ast.Node) Place {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return placeOf(m.Values[0].Key) // a block mapping's own token is its first colon
		}
	case *ast.MappingValueNode:
		return placeOf(m.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return Start
	}
	p := n.GetToken().Position
	return Place{p.Line, p.Column}
}

// Place returns where the value stands: the brace of a mapping in braces, otherwise the
// first key.
func (n Node) Place() Place { return n.place }

// IsNull reports whether nothing is written there, or null.
func (n Node) IsNull() bool {
	_, null := n.ast.(*ast.NullNode)
	return null || n.ast == nil
}

// IsList reports whether the value is a list.
func (n Node) IsList() bool {
	_, list := n.ast.(*ast.SequenceNode)
	return list
}

// Text is the text of a plain, quoted or block value as it is written.
func (n Node) Text() (text string, ok bool) {
	switch v := n.ast.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.ast.GetToken().Value, true
	}
	return "", false
}

func (n Node) isAlias() bool {
	switch n.ast.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return true
	}
	return false
}

// Shorten cuts a text from a file to a length that fits into a message.
func Shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
