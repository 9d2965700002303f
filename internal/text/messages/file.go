package messages

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// part is the messages of some of the files, those of the language before the English
// ones. They are read when one of them is needed: a test without a failure needs none of
// those of failures.
type part func() []inLanguage

type inLanguage struct {
	tag      language.Tag
	messages map[string]message
}

// message is the texts of one message by plural form, empty for forms that it lacks. It is
// in a file as an object, or as a string, which is the form Other.
type message struct{ Zero, One, Two, Few, Many, Other string }

func (m *message) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &m.Other)
	}
	type forms message
	if err := json.Unmarshal(b, (*forms)(m)); err != nil {
		return err
	}
	if m.Other == "" {
		return errors.New("a message without the form other")
	}
	return nil
}

// text is the text for the argument N by the rules of CLDR for the language: that of the
// form Other without N, or without a text for the form of N.
func (m message) text(of language.Tag, args Args) (string, error) {
	n, counted := args["N"]
	if !counted {
		return m.Other, nil
	}
	f, err := Float(n)
	// From a million on, the rules see nothing but the last six digits.
	whole := math.Abs(math.Trunc(f))
	if whole >= 1e6 {
		whole = 1e6 + math.Mod(whole, 1e6)
	}
	form := plural.Cardinal.MatchPlural(of, int(whole), 0, 0, 0, 0)
	forms := map[plural.Form]string{plural.Zero: m.Zero, plural.One: m.One, plural.Two: m.Two, plural.Few: m.Few, plural.Many: m.Many}
	return cmp.Or(forms[form], m.Other), err
}

func newPart(tag language.Tag, folders []fs.FS, has func(file string) bool) part {
	return sync.OnceValue(func() (out []inLanguage) {
		for t := tag; t != language.Und && t != language.English; t = t.Parent() { // of ja-JP also ja
			out = append(out, read(folders, t, has))
		}
		return append(out, read(folders, language.English, has))
	})
}

// read reads the files of one language. Those of a later folder come before others.
func read(folders []fs.FS, tag language.Tag, has func(file string) bool) inLanguage {
	out := inLanguage{tag, map[string]message{}}
	for _, folder := range folders {
		names, err := fs.Glob(folder, "*."+tag.String()+".json")
		if err != nil {
			panic(err) // the pattern is the program's
		}
		for _, name := range names {
			if !has(name) {
				continue
			}
			raw, err := fs.ReadFile(folder, name)
			if err == nil {
				err = json.Unmarshal(raw, &out.messages)
			}
			if err != nil {
				panic(fmt.Sprintf("messages: %s: %v", name, err)) // a test reads them all
			}
		}
	}
	return out
}
