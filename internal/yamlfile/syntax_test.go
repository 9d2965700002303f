package yamlfile_test

import (
	"strings"
	"testing"
)

func TestMistakesOfPeopleAreInPlainWords(t *testing.T) {
	const quotes, tab = "write the value in quotes: ", "the line is indented with a tab; indent with spaces"
	for text, want := range map[string]string{
		"dishes:\n\tsoup: {}\n":             "m.yaml:2:1: " + tab,
		"dishes:\n  soup:\n  \tname: x\n":   "m.yaml:3:3: " + tab,
		"dishes:\n  soup:\n\t\tname: x\n":   "m.yaml:3:1: " + tab,
		"dishes:\n  soup: {}\n\tcake: {}\n": "m.yaml:3:1: " + tab,
		"dishes:\n  soup:\n    name: Soup: hot or cold?\n": "m.yaml:3:11: the value of name has a colon with a space behind it, which begins another key; " +
			quotes + `name: "Soup: hot or cold?"`,
		"dishes:\n  soup:\n    name: which: a\n    price: 1\n": quotes + `name: "which: a"`,
		"dishes:\n  soup:\n    name: which:\n":                 quotes + `name: "which:"`,
		"dishes:\n  - name: a: b\n":                            quotes + `name: "a: b"`,
		"dishes:x\nmore: 1\n":                                  "m.yaml:1:1: the key dishes has no space behind its colon",
		"dishes:{soup: {}}\n":                                  "the key dishes has no space behind its colon",
		"dishes:\n  soup:\n    name: @home\n":                  quotes + `name: "@home"`,
		"dishes:\n  soup:\n    name: `x`\n":                    quotes + "name: \"`x`\"",
		"dishes:\n  soup:\n    name: - x\n":                    quotes + `name: "- x"`,
		"dishes:\n  soup:\n    name: hot\n      price: 1\n":    "m.yaml:4:7: the line is indented deeper than the one before, which has a value already",
		"dishes: [\n": "not YAML: ",
		// The parser knows best what is wrong with a mapping or a list on one line, and an address is no key.
		"dishes:\n  - {name: a, price: 1\n":    "m.yaml:2:5: not YAML: ",
		"dishes:\n  - {name: @home}\n":         "m.yaml:2:12: not YAML: ",
		"dishes:\n  [name: a: b\n":             "m.yaml:2:10: not YAML: ",
		"dishes:\n  - http://x: y: z\n":        "m.yaml:2:15: not YAML: ",
		"dishes:\n  - http://x\n    name: a\n": "not YAML: ",
	} {
		_, _, err := read(menu, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %q\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestColonsThatAreNoMistakeAreRead(t *testing.T) {
	for _, name := range []string{"http://x", "a:b", "fe80::1", `"a: b"`, "'a: b'", "12:30"} {
		if d, _, err := read(menu, "dishes:\n  soup:\n    name: "+name+"\n"); err != nil || len(d.Dishes) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
