package text

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// failers are the functions whose last two arguments are the code of a failure and its
// figures, with the family of their messages.
var failers = map[string]string{
	"Fail": "error.", "fail": "error.", "cutOff": "error.", "FailAt": "error.", "failAt": "error.", "failIfDown": "error.", "FailStream": "error.", "WithHintCode": "hint.",
}

// added are the figures that a failer adds to those that it is given.
var added = map[string][]string{"FailStream": {"peer", "stream", "streams"}}

// failuresIn is the use of a call of a failer. A code that is in a variable is passed over;
// [literals] has what it may hold.
func failuresIn(n ast.Node) []use {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	family, ok := failers[name]
	if !ok {
		return nil
	}
	code, open := keyOf(call.Args[len(call.Args)-2])
	if code == "" {
		return nil
	}
	args := argumentsOf(call.Args[len(call.Args)-1])
	if args != nil {
		args = append(args, added[name]...)
	}
	return []use{{key: family + code, open: open, hint: family == "error.", args: args}}
}

// literals are the texts in the program's sources.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	eachSource(t, func(_ string, f *ast.File, _ func(ast.Node) string) {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					out[s] = true
				}
			}
			return true
		})
	})
	return out
}

// failureCode is the code whose message has the key, and false if the key is of another family.
func failureCode(key string) (code string, ok bool) {
	if code, ok = strings.CutPrefix(key, "error."); ok {
		return strings.TrimSuffix(code, ".hint"), true
	}
	return strings.CutPrefix(key, "hint.")
}
