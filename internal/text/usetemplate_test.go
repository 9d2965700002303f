package text

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
)

// usesInTemplate are the messages that a template of pages says:
// {{say "key" "Name" .Value}}.
func usesInTemplate(path string) (out []use, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New(path)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(string(source), "", "", trees); err != nil {
		return nil, err
	}
	for _, t := range trees {
		commands(t.Root, func(c *parse.CommandNode) {
			if f, ok := c.Args[0].(*parse.IdentifierNode); !ok || f.Ident != "say" || len(c.Args) < 2 {
				return
			}
			line, _ := t.ErrorContext(c)
			u := use{at: line, args: []string{}}
			if key, ok := c.Args[1].(*parse.StringNode); ok {
				u.key = key.Text
			}
			for i := 2; i < len(c.Args); i += 2 {
				name, ok := c.Args[i].(*parse.StringNode)
				if !ok {
					err = fmt.Errorf("%s: argument %d of say is no name", line, i)
					return
				}
				u.args = append(u.args, name.Text)
			}
			out = append(out, u)
		})
	}
	return out, err
}

// commands visits the commands of a node, those in parentheses among them.
func commands(n parse.Node, visit func(*parse.CommandNode)) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				commands(child, visit)
			}
		}
	case *parse.ActionNode:
		commands(n.Pipe, visit)
	case *parse.TemplateNode:
		commands(n.Pipe, visit)
	case *parse.IfNode:
		branch(&n.BranchNode, visit)
	case *parse.RangeNode:
		branch(&n.BranchNode, visit)
	case *parse.WithNode:
		branch(&n.BranchNode, visit)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				commands(c, visit)
			}
		}
	case *parse.CommandNode:
		visit(n)
		for _, a := range n.Args {
			commands(a, visit)
		}
	}
}

func branch(n *parse.BranchNode, visit func(*parse.CommandNode)) {
	commands(n.Pipe, visit)
	commands(n.List, visit)
	commands(n.ElseList, visit)
}

func TestTemplatesAreReadForTheirMessages(t *testing.T) {
	path := t.TempDir() + "/a.tmpl"
	source := `{{if .X}}{{say "one"}}{{else}}{{f (say "two" "N" (len .))}}{{end}}{{define "inner"}}{{range .}}{{say "three" "A" 1 "B" .}}{{end}}{{end}}`
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := usesInTemplate(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, u := range found {
		got[u.key] = u.args
	}
	if len(got) != 3 || len(got["one"]) != 0 || !slices.Equal(got["two"], []string{"N"}) || !slices.Equal(got["three"], []string{"A", "B"}) {
		t.Errorf("%v", got)
	}
}

// The figures of failures and findings are float64 ([measure.Figures]), and a template compares
// a float64 only with a constant that has a point.
func TestMessagesCompareFiguresWithFloats(t *testing.T) {
	compared := 0
	for key, m := range messagesOf(t, "en") {
		if !slices.ContainsFunc([]string{"error.", "hint.", "finding."}, func(family string) bool { return strings.HasPrefix(key, family) }) {
			continue
		}
		for _, text := range m.forms {
			trees := map[string]*parse.Tree{}
			tree := parse.New(key)
			tree.Mode = parse.SkipFuncCheck
			if _, err := tree.Parse(text, "", "", trees); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			commands(trees[key].Root, func(c *parse.CommandNode) {
				if len(c.Args) < 3 || c.Args[0].String() == "index" || c.Args[1].Type() != parse.NodeField {
					return
				}
				if n, ok := c.Args[2].(*parse.NumberNode); ok {
					compared++
					if !strings.Contains(n.Text, ".") {
						t.Errorf("%s: %s needs the constant %s.0", key, c, n.Text)
					}
				}
			})
		}
	}
	if compared < 10 {
		t.Errorf("looked at %d comparisons", compared)
	}
}
