package yamlfile

import (
	"github.com/goccy/go-yaml/ast"

	"soku/internal/measure"
)

// expected are the codes of a value that is not of the form that a place needs, by what
// is found there.
type expected struct {
	nothing, mapping, list, text, other string
	hint                                string // code of the hint, if any
}

var (
	expectedMapping = expected{
		nothing: "yaml.expected_mapping.found_nothing",
		list:    "yaml.expected_mapping.found_list",
		text:    "yaml.expected_mapping.found_text",
		other:   "yaml.expected_mapping.found_other",
		hint:    "yaml.write_mapping",
	}
	expectedList = expected{
		nothing: "yaml.expected_list.found_nothing",
		mapping: "yaml.expected_list.found_mapping",
		text:    "yaml.expected_list.found_text",
		other:   "yaml.expected_list.found_other",
		hint:    "yaml.write_list",
	}
	expectedScalar = expected{
		nothing: "yaml.expected_scalar.found_nothing",
		mapping: "yaml.expected_scalar.found_mapping",
		list:    "yaml.expected_scalar.found_list",
		other:   "yaml.expected_scalar.found_other",
	}
	expectedKey = expected{
		nothing: "yaml.expected_key.found_nothing",
		mapping: "yaml.expected_key.found_mapping",
		list:    "yaml.expected_key.found_list",
		other:   "yaml.expected_key.found_other",
	}
)

// mismatch is the failure of a value that is not what is expected at a path.
func (f *File) mismatch(n Node, path string, want expected) *measure.Error {
	if n.isAlias() {
		return f.alias(n, path)
	}
	code, figures := want.other, measure.Figures(nil)
	switch n.ast.(type) {
	case nil, *ast.NullNode:
		code = want.nothing
	case *ast.MappingNode, *ast.MappingValueNode:
		code = want.mapping
	case *ast.SequenceNode:
		code = want.list
	default:
		if text, ok := n.Text(); ok && want.text != "" {
			code, figures = want.text, measure.Figures{"text": Shorten(text)}
		}
	}
	e := f.failAt(n.place, path, code, figures)
	if want.hint != "" {
		return e.WithHintCode(want.hint, nil)
	}
	return e
}

// alias is the failure of an alias or anchor that no value can be read from.
func (f *File) alias(n Node, path string) *measure.Error {
	if alias, ok := n.ast.(*ast.AliasNode); ok && f.format.Aliases {
		return f.failAt(n.place, path, "yaml.alias_of_nothing", measure.Figures{"alias": Shorten(nameOf(alias.Value))})
	}
	return f.failAt(n.place, path, "yaml.alias", nil)
}
