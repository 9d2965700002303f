package text

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/text/messages"
)

// message is one message as it stands in the files.
type message struct {
	file  string
	forms map[string]string
}

// messagesOf reads the files of a language and fails on a key that stands twice.
func messagesOf(t *testing.T, lang string) map[string]message {
	t.Helper()
	out := map[string]message{}
	entries, err := messages.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "."+lang+".json") {
			continue
		}
		raw, err := messages.Files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(strings.NewReader(string(raw)))
		if _, err := d.Token(); err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		for d.More() {
			token, err := d.Token()
			if err != nil {
				t.Fatalf("%s: %v", e.Name(), err)
			}
			key := token.(string)
			var value any
			if err := d.Decode(&value); err != nil {
				t.Fatalf("%s: %s: %v", e.Name(), key, err)
			}
			if other, twice := out[key]; twice {
				t.Errorf("%s stands in %s and in %s", key, other.file, e.Name())
			}
			m := message{file: e.Name(), forms: map[string]string{}}
			switch value := value.(type) {
			case string:
				m.forms["other"] = value
			case map[string]any:
				for form, text := range value {
					m.forms[form], _ = text.(string)
				}
			}
			out[key] = m
		}
	}
	return out
}

var (
	variable = regexp.MustCompile(`[\s(]\.([A-Za-z]\w*)`)
	action   = regexp.MustCompile(`{{.*?}}`)
	counted  = regexp.MustCompile(`count "([^"]+)"`)
)

// arguments are the names that a message writes.
func (m message) arguments() map[string]bool {
	out := map[string]bool{}
	for _, text := range m.forms {
		for _, a := range action.FindAllString(text, -1) {
			for _, v := range variable.FindAllStringSubmatch(strings.ReplaceAll(a, "{{", "{{ "), -1) {
				out[v[1]] = true
			}
		}
	}
	return out
}

// MessageKeys are the keys of all English messages.
func MessageKeys(t *testing.T) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(messagesOf(t, "en")))
}

// use is what the program asks the catalogue for.
type use struct {
	at   string
	key  string   // whole, or a prefix
	args []string // keys of the Args literal, or nil if there is none
	open bool     // key is a prefix: the rest is made while the program runs
	// hint: the message KEY.hint, if there is one, is made of the same arguments
	hint bool
	// variants: messages whose keys go on behind the key with a dot may stand for it
	variants bool
}

// asks reports whether the use may ask for the message of a key.
func (u use) asks(key string) bool {
	return key == u.key || u.hint && key == u.key+".hint" || u.open && strings.HasPrefix(key, u.key) || u.variants && strings.HasPrefix(key, u.key+".")
}

// uses are the calls of Sentence in the program's sources and templates.
func uses(t *testing.T) []use {
	t.Helper()
	var out []use
	eachSource(t, func(_ string, f *ast.File, at func(ast.Node) string) {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, u := range slices.Concat(usesIn(n), labels(n), failuresIn(n)) {
				u.at = at(n)
				out = append(out, u)
			}
			return true
		})
	})
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".tmpl") {
			return err
		}
		found, err := usesInTemplate(path)
		out = append(out, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sayers are the methods that take keys: the places of the keys among their arguments.
// The arguments of the sentence follow the last one.
var sayers = map[string][]int{"Sentence": {0}, "OrKey": {0}, "SentenceFor": {1}, "printLine": {0}, "Under": {0}, "Row": {0, 1}, "Rows": {0}}

// usesIn are the keys of one call of a sayer, or of a Line that is written out.
func usesIn(n ast.Node) []use {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return usesOfLine(n)
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		places := sayers[s.Sel.Name]
		if len(places) == 0 || len(n.Args) <= places[len(places)-1] {
			return nil
		}
		var out []use
		for _, p := range places {
			u := use{args: []string{}, variants: s.Sel.Name == "SentenceFor"}
			u.key, u.open = keyOf(n.Args[p])
			if v, variable := n.Args[p].(*ast.Ident); variable && (strings.HasPrefix(s.Sel.Name, "Row") && v.Name == "label" || v.Name == "key") {
				continue // a key that stands where the variable is set
			}
			if lit, ok := n.Args[p].(*ast.BasicLit); ok && lit.Value == `""` {
				continue
			}
			if p == places[len(places)-1] && len(n.Args) > p+1 {
				u.args = argumentsOf(n.Args[p+1])
			}
			out = append(out, u)
		}
		return out
	}
	return nil
}

// usesOfLine reads Line{Key: "...", Label: "..."}.
func usesOfLine(n *ast.CompositeLit) (out []use) {
	name := ""
	switch t := n.Type.(type) {
	case *ast.Ident:
		name = t.Name
	case *ast.SelectorExpr:
		name = t.Sel.Name
	}
	if name != "Line" {
		return nil
	}
	for _, elt := range n.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if field, ok := kv.Key.(*ast.Ident); ok && (field.Name == "Key" || field.Name == "Label") {
			u := use{}
			u.key, u.open = keyOf(kv.Value)
			if field.Name == "Key" {
				u.args = argumentsOfLine(n)
			}
			out = append(out, u)
		}
	}
	return out
}

// argumentsOfLine are those of a Line that is written out with its arguments.
func argumentsOfLine(n *ast.CompositeLit) []string {
	for _, elt := range n.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if field, ok := kv.Key.(*ast.Ident); ok && field.Name == "Args" {
			return argumentsOf(kv.Value)
		}
	}
	return []string{}
}

// headings are the families whose keys stand in the sources as values of their own.
var headings = []string{"column.", "fact.", "floor.", "head.", "label.", "live.", "rows."}

func labels(n ast.Node) (keys []use) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return nil
	}
	u := use{}
	u.key, _ = keyOf(lit)
	for _, family := range headings {
		if strings.HasPrefix(u.key, family) && u.key != family {
			u.open = strings.HasSuffix(u.key, ".")
			keys = append(keys, u)
		}
	}
	return keys
}

// keyOf is the constant begin of a key, and whether more follows.
func keyOf(e ast.Expr) (key string, open bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s, false
	case *ast.BinaryExpr:
		key, _ := keyOf(e.X)
		return key, true
	}
	return "", true
}

func argumentsOf(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.CompositeLit:
		out := []string{}
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				key, _ := keyOf(kv.Key)
				out = append(out, key)
			}
		}
		return out
	case *ast.Ident:
		if e.Name == "nil" {
			return []string{}
		}
	}
	return nil
}

func TestEveryMessageIsUsedAndEveryUsedMessageIsThere(t *testing.T) {
	known, used := messagesOf(t, "en"), map[string]bool{}
	for _, m := range known {
		for _, text := range m.forms {
			for _, c := range counted.FindAllStringSubmatch(text, -1) {
				used["count."+c[1]] = true
				if _, there := known["count."+c[1]]; !there {
					t.Errorf("%s: there is no message count.%s", m.file, c[1])
				}
			}
		}
	}
	for _, u := range uses(t) {
		if u.key == "" {
			t.Errorf("%s: the key has no constant begin, so nobody can look for its messages", u.at)
			continue
		}
		found := false
		for key := range known {
			if u.asks(key) {
				used[key], found = true, true
			}
		}
		if _, base := known[u.key]; !found || u.variants && !u.open && !base {
			t.Errorf("%s: there is no message %s", u.at, u.key)
		}
	}
	texts := literals(t)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if code, failure := failureCode(key); failure && texts[code] {
			continue // a table or a variable has the code
		}
		if !used[key] {
			t.Errorf("%s: nothing says %s", known[key].file, key)
		}
	}
}

func TestEverySentenceGetsTheArgumentsThatItWrites(t *testing.T) {
	known := messagesOf(t, "en")
	for _, u := range uses(t) {
		if u.open || u.args == nil {
			continue
		}
		written := map[string]bool{} // by a sentence or its hint
		for key, m := range known {
			if !u.asks(key) {
				continue
			}
			wants := m.arguments()
			if len(m.forms) > 1 {
				wants["N"] = true
			} else if slices.Contains(u.args, "N") {
				t.Errorf("%s: %s has no plural forms that N could choose", u.at, key)
			}
			for a := range wants {
				written[a] = written[a] || !u.variants || key == u.key
				if !slices.Contains(u.args, a) {
					t.Errorf("%s: %s needs %s", u.at, key, a)
				}
			}
		}
		for _, a := range u.args {
			if !written[a] {
				t.Errorf("%s: %s does not write %s", u.at, u.key, a)
			}
		}
	}
}

func TestEveryMessageIsATemplate(t *testing.T) {
	for key, m := range messagesOf(t, "en") {
		if m.forms["other"] == "" {
			t.Errorf("%s: %s has no form \"other\"", m.file, key)
		}
		for form, text := range m.forms {
			if _, err := English().language().Parse(text); err != nil {
				t.Errorf("%s: %s (%s): %v", m.file, key, form, err)
			}
		}
	}
}
