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
	"sync"
	texttemplate "text/template"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"
)

// Files are the catalogues of all languages.
//
//go:embed *.json
var Files embed.FS

// Args are the figures and names of a sentence. A message writes one as {{.Name}}, or
// with its unit as {{rate .Goodput}}; see [Language] for what there is. The argument N, a
// whole number, chooses the plural form of a message that has several.
type Args map[string]any

// Language makes the sentences of one language. English stands in for a message that
// that are missing in the language.
type Language struct {
	tag       language.Tag
	bundle    *i18n.Bundle
	localizer *i18n.Localizer
	english   *i18n.Localizer
	parser    parser
}

// English is the language that every message is written in first, with the functions of
// this package alone.
var English = sync.OnceValue(func() *Language { return New(language.English) })

// New reads the messages of a language, and the English ones. Those in the folders come
// before the ones of the program, which [Files] holds.
func New(tag language.Tag, folders ...fs.FS) *Language {
	b := i18n.NewBundle(language.English)
	b.RegisterUnmarshalFunc("json", json.Unmarshal)
	for _, folder := range append([]fs.FS{Files}, folders...) {
		read(b, folder, language.English)
		for t := tag; t != language.Und && t != language.English; t = t.Parent() { // of ja-JP also ja
			read(b, folder, t)
		}
	}
	l := &Language{tag: tag, bundle: b}
	return l.With(nil)
}

// read adds the files of one language.
func read(b *i18n.Bundle, folder fs.FS, tag language.Tag) {
	names, err := fs.Glob(folder, "*."+tag.String()+".json")
	if err != nil {
		panic(err) // the pattern is the program's
	}
	for _, name := range names {
		if _, err := b.LoadMessageFileFS(folder, name); err != nil {
			panic(fmt.Sprintf("messages: %s: %v", name, err)) // a test reads them all
		}
	}
}

// With returns the same messages with functions more that they may call. A message is
// parsed when it is used first, with the functions of that moment: one that calls a
// function must be used only where there is one of that name that does the same.
func (l *Language) With(functions texttemplate.FuncMap) *Language {
	out := &Language{
		tag: l.tag, bundle: l.bundle,
		localizer: i18n.NewLocalizer(l.bundle, l.tag.String()), english: i18n.NewLocalizer(l.bundle, language.English.String()),
	}
	all := out.functions()
	maps.Copy(all, functions)
	out.parser = parser{template.TextParser{Funcs: all, Option: "missingkey=error"}}
	return out
}

// parser keeps parsed templates: its functions are the same for every message.
type parser struct{ template.TextParser }

func (*parser) Cacheable() bool { return true }

// Tag is the language (BCP 47): en.
func (l *Language) Tag() string { return l.tag.String() }

// Say makes the sentence of a key. It fails on a key or an argument that is missing,
// which is a defect that tests find.
func (l *Language) Say(key string, args Args) (string, error) {
	config := &i18n.LocalizeConfig{MessageID: key, TemplateData: map[string]any(args), TemplateParser: &l.parser}
	if n, ok := args["N"]; ok {
		config.PluralCount = n
	}
	return l.localize(config)
}

// localize takes the English message where the language has none, which to go-i18n is an
// error that also hides whether the English one could be made.
func (l *Language) localize(config *i18n.LocalizeConfig) (string, error) {
	s, err := l.localizer.Localize(config)
	var missing *i18n.MessageNotFoundErr
	if errors.As(err, &missing) {
		return l.english.Localize(config)
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
		return fmt.Sprintf("%s %v", key, args)
	}
	return s
}
