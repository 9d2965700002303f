// Package messages holds the message catalogues: every sentence that a person reads,
// one file an area and language (area.language.json), with the functions by which a
// message writes numbers, units, lists and plurals.
//
// It knows nothing of what the sentences are about: package text makes the sentences of
// figures, findings and reports with it, package measure those of errors. It starts no
// goroutines; a Language may be used from several.
package messages

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"golang.org/x/text/language"

	"soku/internal/printable"
)

// Files are the catalogues of all languages.
//
//go:embed *.json
var Files embed.FS

// Args are the figures and names of a sentence. A message writes one as {{.Name}}, or
// with its unit as {{rate .Goodput}}; see [Language] for what there is. The argument N, a
// whole number, chooses the plural form of a message that has several.
type Args map[string]any

// Language makes the sentences of one language. English stands in for messages that are
// missing in the language.
type Language struct {
	tag                 language.Tag
	sentences, failures part
	templates           *template.Template // has the functions
	parsed              *sync.Map          // templates by their text
}

// English is the language that every message is written in first, with the functions of
// this package alone.
var English = sync.OnceValue(func() *Language { return New(language.English) })

// New returns a language whose messages, and the English ones, are read when they are
// needed first. Those in the folders come before the ones of the program, which [Files]
// holds.
func New(tag language.Tag, folders ...fs.FS) *Language {
	folders = append([]fs.FS{Files}, folders...)
	l := &Language{
		tag:       tag,
		sentences: newPart(tag, folders, func(file string) bool { return !strings.HasPrefix(file, failureFiles) }),
		failures:  newPart(tag, folders, func(file string) bool { return strings.HasPrefix(file, failureFiles) }),
	}
	return l.With(nil)
}

// failureFiles begins the names of the files that have the messages of failures, and
// failureKeys the keys of these messages.
const failureFiles = "error-"

var failureKeys = []string{"error.", "hint.", "failure."}

// ofFailure reports whether a key is one of a failure's.
func ofFailure(key string) bool {
	return slices.ContainsFunc(failureKeys, func(family string) bool { return strings.HasPrefix(key, family) })
}

// With returns the same messages with functions more that they may call. A message that
// calls a function can be made only where there is one of that name.
func (l *Language) With(functions template.FuncMap) *Language {
	out := &Language{tag: l.tag, sentences: l.sentences, failures: l.failures, parsed: &sync.Map{}}
	all := out.functions()
	maps.Copy(all, functions)
	out.templates = template.New("").Option("missingkey=error").Funcs(all)
	return out
}

// Sentence makes the sentence of a key. It fails on a key or an argument that is missing,
// which is a defect that tests find.
func (l *Language) Sentence(key string, args Args) (string, error) {
	m, of, ok := l.find(key)
	if !ok {
		return "", fmt.Errorf("no message %s", key)
	}
	text, err := m.text(of, args)
	if err == nil && strings.Contains(text, "{{") {
		text, err = l.fill(key, text, args)
	}
	if len(args) > 0 {
		text = printable.Line(text)
	}
	return text, err
}

// fill writes the arguments into a message. Its template is parsed when it is used first.
func (l *Language) fill(key, text string, args Args) (string, error) {
	t, ok := l.parsed.Load(text)
	if !ok {
		parsed, err := l.templates.New(key).Parse(text)
		if err != nil {
			return "", err
		}
		t, _ = l.parsed.LoadOrStore(text, parsed)
	}
	var out strings.Builder
	err := t.(*template.Template).Execute(&out, map[string]any(args))
	return out.String(), err
}

// find is the message of a key and the language that it is in.
func (l *Language) find(key string) (message, language.Tag, bool) {
	part := l.sentences
	if ofFailure(key) {
		part = l.failures
	}
	for _, f := range part() {
		if m, ok := f.messages[key]; ok {
			return m, f.tag, true
		}
	}
	return message{}, language.English, false
}

// Has reports whether the language, or English, has a message of that key.
func (l *Language) Has(key string) bool {
	_, _, ok := l.find(key)
	return ok
}

// Parse reads the template of one message.
func (l *Language) Parse(text string) (*template.Template, error) {
	return l.templates.New("").Parse(text)
}

// OrKey is the sentence of a key, or the key and its arguments where it cannot be made: a
// person must see something where the program has a defect.
func (l *Language) OrKey(key string, args Args) string {
	s, err := l.Sentence(key, args)
	if err != nil {
		return printable.Line(fmt.Sprintf("%s %v", key, args))
	}
	return s
}
