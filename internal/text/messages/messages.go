// Package messages holds the message catalogues: every sentence that a person reads,
// one file an area and language (area.language.json, the format of go-i18n), with the
// functions by which a message writes numbers, units, lists and plurals.
//
// It knows nothing of what the sentences are about: package text makes the sentences of
// figures, findings and reports with it, package measure those of errors. It starts no
// goroutines; a Language may be used from several at once.
package messages

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
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
	parser              parser
}

// part is the messages of some of the files. They are read when one of them is needed:
// a test without a failure needs none of those of failures.
type part func() localizers

type localizers struct{ own, english *i18n.Localizer }

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

func newPart(tag language.Tag, folders []fs.FS, has func(file string) bool) part {
	return sync.OnceValue(func() localizers {
		b := i18n.NewBundle(language.English)
		b.RegisterUnmarshalFunc("json", json.Unmarshal)
		for _, folder := range folders {
			read(b, folder, language.English, has)
			for t := tag; t != language.Und && t != language.English; t = t.Parent() { // of ja-JP also ja
				read(b, folder, t, has)
			}
		}
		return localizers{i18n.NewLocalizer(b, tag.String()), i18n.NewLocalizer(b, language.English.String())}
	})
}

// read adds the files of one language.
func read(b *i18n.Bundle, folder fs.FS, tag language.Tag, has func(file string) bool) {
	names, err := fs.Glob(folder, "*."+tag.String()+".json")
	if err != nil {
		panic(err) // the pattern is the program's
	}
	for _, name := range names {
		if !has(name) {
			continue
		}
		if _, err := b.LoadMessageFileFS(folder, name); err != nil {
			panic(fmt.Sprintf("messages: %s: %v", name, err)) // a test reads them all
		}
	}
}

// With returns the same messages with functions more that they may call. A message is
// parsed when it is used first, with the functions of that moment: one that calls a
// function must be used only where there is one of that name that does the same.
func (l *Language) With(functions texttemplate.FuncMap) *Language {
	out := &Language{tag: l.tag, sentences: l.sentences, failures: l.failures}
	all := out.functions()
	maps.Copy(all, functions)
	out.parser = parser{template.TextParser{Funcs: all, Option: "missingkey=error"}}
	return out
}

// parser keeps parsed templates: its functions are the same for every message.
type parser struct{ template.TextParser }

func (*parser) Cacheable() bool { return true }

// Say makes the sentence of a key. It fails on a key or an argument that is missing,
// which is a defect that tests find.
func (l *Language) Say(key string, args Args) (string, error) {
	config := &i18n.LocalizeConfig{MessageID: key, TemplateData: map[string]any(args), TemplateParser: &l.parser}
	if n, ok := args["N"]; ok {
		config.PluralCount = n
	}
	s, err := l.localize(config)
	if len(args) > 0 {
		s = printable.Line(s)
	}
	return s, err
}

// localize takes the English message where the language has none, which to go-i18n is an
// error that also hides whether the English one could be made.
func (l *Language) localize(config *i18n.LocalizeConfig) (string, error) {
	messages := l.sentences
	if ofFailure(config.MessageID) {
		messages = l.failures
	}
	localizers := messages()
	s, err := localizers.own.Localize(config)
	var missing *i18n.MessageNotFoundErr
	if errors.As(err, &missing) {
		return localizers.english.Localize(config)
	}
	return s, err
}

// Has reports whether the language, or English, has a message of that key.
func (l *Language) Has(key string) bool {
	_, err := l.localize(&i18n.LocalizeConfig{MessageID: key, TemplateParser: template.IdentityParser{}})
	return err == nil
}

// Parse reads the template of one message.
func (l *Language) Parse(text string) (template.ParsedTemplate, error) {
	return l.parser.Parse(text, "", "")
}

// OrKey is the sentence of a key, or the key and its arguments where it cannot be made: a
// person must see something where the program has a defect.
func (l *Language) OrKey(key string, args Args) string {
	s, err := l.Say(key, args)
	if err != nil {
		return printable.Line(fmt.Sprintf("%s %v", key, args))
	}
	return s
}
